package jsonx

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// special marks the bytes of w that are a quote, a backslash or a control
// character. Only the lowest mark is exact, a borrow spoils the ones above it.
func special(w uint64) uint64 {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	q, s := w^('"'*ones), w^('\\'*ones)
	return ((q-ones)&^q | (s-ones)&^s | (w-' '*ones)&^w) & highs
}

// plain returns the offset of the first special byte of b at or after i, len(b)
// if there is none.
func plain(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// SkipString validates the string at the position.
func (s *Scanner) SkipString() {
	i := s.Pos + 1
	for {
		i = plain(s.Data, i)
		if i >= len(s.Data) || s.Data[i] != '\\' {
			break
		}
		if _, i = s.escape(i); i < 0 {
			return
		}
	}
	s.closeString(i)
}

// closeString reads the quote at i.
func (s *Scanner) closeString(i int) {
	switch {
	case i >= len(s.Data):
		s.Fail(i, "the line ends inside a string")
	case s.Data[i] != '"':
		s.Fail(i, "control character in a string")
	default:
		s.Pos = i + 1
	}
}

// Str decodes the string at the position. Without escapes it shares the
// memory of Data, which must not change, or that of the Arena.
func (s *Scanner) Str() string {
	text, owned := s.decode()
	switch {
	case len(text) == 0:
		return ""
	case owned && s.Arena != nil && !s.Dirty:
		return s.Arena.keep(len(text))
	case owned:
		return string(text)
	}
	return unsafe.String(&text[0], len(text))
}

// Text is Str for a short look: the bytes are valid until the next call.
func (s *Scanner) Text() []byte {
	text, _ := s.decode()
	return text
}

// decode reads a string; buffered tells that its bytes are not those of Data.
func (s *Scanner) decode() (text []byte, buffered bool) {
	start := s.Pos + 1
	i := plain(s.Data, start)
	if i < len(s.Data) && s.Data[i] == '\\' {
		text, buffered = s.unescape(start, i), true
	} else if s.closeString(i); !s.Failed {
		text = s.Data[start:i]
	}
	if s.Dirty && text != nil {
		return cleaned(nil, text), true
	}
	return text, buffered
}

// unescape goes on with a string at its first backslash.
func (s *Scanner) unescape(start, i int) []byte {
	b := s.Data
	text := s.room(len(b) - start + spill) // for any string of the text
	n := copy(text, b[start:i])
	for {
		written, read := decodeRuns(text[n:], b[i:])
		i, n = i+read, n+written
		k := plain(b, i) - i
		n += copy(text[n:], b[i:i+k])
		i += k
		if i >= len(b) || b[i] != '\\' {
			break
		}
		r, end := s.escape(i)
		if end < 0 {
			return nil
		}
		n += utf8.EncodeRune(text[n:], r)
		i = end
	}
	if s.closeString(i); s.Failed {
		return nil
	}
	return text[:n]
}

// room returns at least n bytes to decode into.
func (s *Scanner) room(n int) []byte {
	if s.Arena != nil {
		return s.Arena.room(n)
	}
	if len(s.text) < n {
		s.text = make([]byte, max(n, 2*len(s.text)))
	}
	return s.text
}

// spill is how much decodeRuns may write behind what it returns.
const spill = 32

// portableRuns is decodeRuns without assembly, eight bytes at a time.
func portableRuns(dst, src []byte) (written, read int) {
	for read+10 <= len(src) {
		w := binary.LittleEndian.Uint64(src[read:])
		binary.LittleEndian.PutUint64(dst[written:], w)
		m := special(w)
		if m == 0 {
			written, read = written+8, read+8
			continue
		}
		k := bits.TrailingZeros64(m) >> 3
		written, read = written+k, read+k
		c := escapes[src[read+1]]
		if src[read] != '\\' || c == 0 {
			break
		}
		dst[written] = c
		written, read = written+1, read+2
	}
	return written, read
}

// escapes maps the letter after a backslash to what it stands for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape decodes the escape at i and returns the offset after it, -1 if it is
// none. Half a surrogate pair is noted and becomes U+FFFD.
func (s *Scanner) escape(i int) (rune, int) {
	if i+1 >= len(s.Data) {
		s.Fail(i+1, "the line ends inside a string")
		return 0, -1
	}
	c := s.Data[i+1]
	if r := escapes[c]; r != 0 {
		return rune(r), i + 2
	}
	if c != 'u' {
		s.Fail(i+1, "no such escape")
		return 0, -1
	}
	r := s.hex(i + 2)
	switch {
	case r < 0:
		return 0, -1
	case r < 0xD800 || r > 0xDFFF:
		s.Escaped = s.Escaped || r < 0x100
		return r, i + 6
	case r < 0xDC00 && i+12 <= len(s.Data) && s.Data[i+6] == '\\' && s.Data[i+7] == 'u':
		low := s.hex(i + 8)
		if low < 0 {
			return 0, -1
		}
		if 0xDC00 <= low && low <= 0xDFFF {
			return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, i + 12
		}
	}
	s.odd(LoneSurrogate, i, string(s.Data[i:i+6]))
	return utf8.RuneError, i + 6
}

// hex reads four hexadecimal digits at i.
func (s *Scanner) hex(i int) (r rune) {
	for k := i; k < i+4; k++ {
		if k >= len(s.Data) {
			s.Fail(k, "the line ends inside a string")
			return -1
		}
		c := s.Data[k]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			s.Fail(k, "no hexadecimal digit")
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// cleaned appends s to dst, each byte that is no UTF-8 as U+FFFD, which is
// what encoding/json makes of it.
func cleaned(dst, s []byte) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return dst
}
