package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/replay/text"
)

const (
	maxExcerpt = 300     // bytes of a foreign body in an error
	maxWords   = 4 << 10 // bytes of a message that an endpoint worded
)

// noStream is a body that is no event stream. What is no model's endpoint will
// not become one, but a gateway may have been starting.
func noStream(contentType string, body []byte) *Fault {
	excerpt := Excerpt(body)
	switch {
	case contentType == eventStream:
		return &Fault{"no events: what calls itself an event stream is none: " + excerpt, Once}
	case contentType == "":
		contentType = "of no content type"
	}
	if excerpt == "" {
		return &Fault{fmt.Sprintf("no events: the answer is empty (%s)", contentType), Once}
	}
	return &Fault{fmt.Sprintf("no events: the answer is %s, not an event stream: %s", contentType, excerpt), Once}
}

// Excerpt is the beginning of what an endpoint sent, on one line.
func Excerpt(b []byte) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), 2*maxExcerpt)]), "\uFFFD")
	return text.Clip(strings.Join(strings.Fields(s), " "), maxExcerpt)
}

// looksLikeEvents reports whether r begins as an event stream does. It peeks
// until the first field name can be told.
func looksLikeEvents(r *bufio.Reader) bool {
	for n := 1; n <= 256; n++ {
		head, err := r.Peek(n)
		head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(bom)), " \r\n\t")
		for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
			if bytes.HasPrefix(head, []byte(field)) {
				return true
			}
		}
		if err != nil || len(head) > len("event:") {
			return false
		}
	}
	return false
}
