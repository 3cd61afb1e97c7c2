package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Capture keeps the head and the tail of what is written to it, in memory that
// does not grow with the output. The zero value keeps nothing.
type Capture struct {
	Max   int64 // bytes to keep
	Total int64 // bytes written
	head  []byte
	tail  []byte // the last bytes, at most twice what is kept of them
}

// Write never fails.
func (c *Capture) Write(p []byte) (int, error) {
	n := len(p)
	c.Total += int64(n)
	if room := int(c.Max - c.Max/2 - int64(len(c.head))); room > 0 {
		k := min(room, len(p))
		c.head = append(c.head, p[:k]...)
		p = p[k:]
	}
	keep := int(c.Max / 2)
	if len(p) > keep {
		p = p[len(p)-keep:]
		c.tail = c.tail[:0]
	}
	if len(c.tail)+len(p) > 2*keep {
		c.tail = append(c.tail[:0], c.tail[len(c.tail)+len(p)-keep:]...)
	}
	c.tail = append(c.tail, p...)
	return n, nil
}

// Cut reports whether something of the output is missing in text.
func (c *Capture) Cut() bool { return c.Total > c.Max }

// Text is what was kept, as valid UTF-8, with a mark where something is
// missing.
func (c *Capture) Text() string {
	tail := c.tail
	if keep := int(c.Max / 2); len(tail) > keep {
		tail = tail[len(tail)-keep:]
	}
	if !c.Cut() {
		return Clip(Valid(string(c.head)+string(tail)), c.Max)
	}
	head, end := trimEnd(string(c.head)), trimStart(string(tail))
	missing := mark(c.Total - int64(len(head)+len(end)))
	// The sign for what is not UTF-8 is longer than a byte.
	return prefix(Valid(head), c.Max-c.Max/2) + missing + suffix(Valid(end), c.Max/2)
}

// Recent is the end of what was written so far, at most n bytes of it.
func (c *Capture) Recent(n int) string {
	end := c.tail
	if len(end) == 0 {
		end = c.head
	}
	return Valid(WholeRunes(string(end[max(0, len(end)-n):])))
}

// Valid replaces what is not UTF-8. Go knows no lone surrogates: their bytes
// are invalid like any other.
func Valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Clip shortens a text to max bytes of its head and tail, and marks the place.
func Clip(s string, maximum int64) string {
	if int64(len(s)) <= maximum {
		return s
	}
	head, tail := prefix(s, maximum-maximum/2), suffix(s, maximum/2)
	return head + mark(int64(len(s)-len(head)-len(tail))) + tail
}

// prefix is the beginning of a text, at most n bytes of whole runes.
func prefix(s string, n int64) string { return trimEnd(s[:min(n, int64(len(s)))]) }

// suffix is the end of a text, at most n bytes of whole runes.
func suffix(s string, n int64) string { return trimStart(s[max(0, int64(len(s))-n):]) }

func mark(bytes int64) string { return fmt.Sprintf("\n[... %d bytes left out ...]\n", bytes) }

// WholeRunes drops parts of runes at both ends of s.
func WholeRunes(s string) string { return trimEnd(trimStart(s)) }

// trimEnd drops the beginning of a rune at the end of s.
func trimEnd(s string) string {
	for i := 1; i <= min(utf8.UTFMax-1, len(s)); i++ {
		if b := s[len(s)-i]; utf8.RuneStart(b) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// trimStart drops the rest of a rune at the start of s.
func trimStart(s string) string {
	for i := range min(utf8.UTFMax, len(s)) {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	if len(s) < utf8.UTFMax {
		return ""
	}
	return s // no rune has so many bytes
}
