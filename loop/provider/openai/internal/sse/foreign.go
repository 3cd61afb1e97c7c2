package sse

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

// ForeignError is an answer that is no event stream.
type ForeignError struct {
	ContentType string
	Excerpt     string
}

func (e *ForeignError) Error() string {
	kind := e.ContentType
	switch {
	case kind == ContentType:
		return "no events: what calls itself an event stream is none: " + e.Excerpt
	case kind == "":
		kind = "of no content type"
	}
	if e.Excerpt == "" {
		return fmt.Sprintf("no events: the answer is empty (%s)", kind)
	}
	return fmt.Sprintf("no events: the answer is %s, not an event stream: %s", kind, e.Excerpt)
}

// Excerpt is the beginning of a foreign body, on one line.
func Excerpt(b []byte) string {
	s := strings.ToValidUTF8(string(b[:min(len(b), 2*maxExcerpt)]), "\uFFFD")
	return text.Clip(strings.Join(strings.Fields(s), " "), maxExcerpt)
}

// Looks reports whether r begins like an event stream. It peeks until the first
// field name can be told.
func Looks(r *bufio.Reader) bool {
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
