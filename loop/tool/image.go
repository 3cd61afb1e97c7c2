package tool

import (
	"encoding/base64"
	"net/http"

	"github.com/turnlog/turnlog/replay/transcript"
)

// ImageType recognises the image formats that models take, by their bytes: the
// name of a file often lies, and an endpoint refuses the whole history for it,
// again at each request. "" is no image.
func ImageType(data []byte) string {
	switch kind := http.DetectContentType(data); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}

// MaxImage bounds an image: endpoints refuse more than about 5 MB.
const MaxImage = 5_000_000

// ImageBlock is an image as a part of a result.
func ImageBlock(mimeType string, data []byte) transcript.Block {
	return transcript.Block{Type: transcript.BlockImage, MimeType: mimeType, Data: base64.StdEncoding.EncodeToString(data)}
}
