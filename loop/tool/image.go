package tool

import (
	"bytes"
	"encoding/base64"

	"github.com/turnlog/turnlog/replay/transcript"
)

// imageType recognises the image formats that models take, by their bytes: the
// name of a file often lies, and an endpoint refuses the whole history for it,
// again at each request. "" is no image.
func imageType(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	default:
		return ""
	}
}

// maxImage bounds an image: endpoints refuse more than about 5 MB.
const maxImage = 5_000_000

func imageBlock(mimeType string, data []byte) transcript.Block {
	return transcript.Block{Type: transcript.BlockImage, MimeType: mimeType, Data: base64.StdEncoding.EncodeToString(data)}
}
