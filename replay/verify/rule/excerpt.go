package rule

import (
	"bytes"
	"strings"

	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/verify/secret"
)

// excerptSize is how much of a line a finding shows around a column, in bytes.
const excerptSize = 80

// excerpt shows a line around a column, what is no UTF-8 replaced.
func excerpt(raw []byte, column int) string {
	raw = bytes.TrimRight(raw, "\r\n")
	// Masked with enough around it that a secret at its edge is seen whole.
	const margin = 512
	edge := min(max(0, column-1-excerptSize/2-margin), len(raw))
	raw, column = raw[edge:min(len(raw), edge+excerptSize+2*margin)], column-edge
	raw = []byte(secret.New().Mask(string(raw)))
	from := min(max(0, column-1-excerptSize/2), len(raw))
	to := min(from+excerptSize, len(raw))
	return strings.ToValidUTF8(string(raw[from:to]), "\uFFFD")
}

// short shortens a text that came from a transcript for use in a message.
func short(s string) string { return text.Clip(s, 60) }
