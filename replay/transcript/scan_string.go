package transcript

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

// skipString validates the string at the position.
func (p *parser) skipString() {
	i := p.i + 1
	for {
		i = plain(p.b, i)
		if i >= len(p.b) || p.b[i] != '\\' {
			break
		}
		if _, i = p.escape(i); i < 0 {
			return
		}
	}
	p.closeString(i)
}

// closeString reads the quote at i.
func (p *parser) closeString(i int) {
	switch {
	case i >= len(p.b):
		p.fail(i, "the line ends inside a string")
	case p.b[i] != '"':
		p.fail(i, "control character in a string")
	default:
		p.i = i + 1
	}
}

// str decodes the string at the position. Without escapes it shares the
// memory of the line, which is never written to again.
func (p *parser) str() string {
	start := p.i + 1
	i := plain(p.b, start)
	if i < len(p.b) && p.b[i] == '\\' {
		return p.decode(start, i)
	}
	p.closeString(i)
	if p.failed || i == start {
		return ""
	}
	if p.dirty {
		return string(cleaned(nil, p.b[start:i]))
	}
	return unsafe.String(&p.b[start], i-start)
}

// decode goes on with a string at its first backslash.
func (p *parser) decode(start, i int) string {
	b := p.b
	text := p.room(len(b) - start + spill) // for any string of the line
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
		r, end := p.escape(i)
		if end < 0 {
			return ""
		}
		n += utf8.EncodeRune(text[n:], r)
		i = end
	}
	p.closeString(i)
	if p.failed {
		return ""
	}
	switch {
	case p.dirty:
		return string(cleaned(nil, text[:n]))
	case p.loan != nil:
		return p.loan.keep(n)
	}
	return string(text[:n])
}

// room returns at least n bytes to decode into.
func (p *parser) room(n int) []byte {
	if p.loan != nil {
		return p.loan.room(n)
	}
	if len(p.text) < n {
		p.text = make([]byte, max(n, 2*len(p.text)))
	}
	return p.text
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
func (p *parser) escape(i int) (rune, int) {
	if i+1 >= len(p.b) {
		p.fail(i+1, "the line ends inside a string")
		return 0, -1
	}
	c := p.b[i+1]
	if r := escapes[c]; r != 0 {
		return rune(r), i + 2
	}
	if c != 'u' {
		p.fail(i+1, "no such escape")
		return 0, -1
	}
	r := p.hex(i + 2)
	switch {
	case r < 0:
		return 0, -1
	case r < 0xD800 || r > 0xDFFF:
		p.escaped = p.escaped || r < 0x100
		return r, i + 6
	case r < 0xDC00 && i+12 <= len(p.b) && p.b[i+6] == '\\' && p.b[i+7] == 'u':
		low := p.hex(i + 8)
		if low < 0 {
			return 0, -1
		}
		if 0xDC00 <= low && low <= 0xDFFF {
			return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, i + 12
		}
	}
	p.note(LoneSurrogate, i, string(p.b[i:i+6]))
	return utf8.RuneError, i + 6
}

// hex reads four hexadecimal digits at i.
func (p *parser) hex(i int) (r rune) {
	for k := i; k < i+4; k++ {
		if k >= len(p.b) {
			p.fail(k, "the line ends inside a string")
			return -1
		}
		c := p.b[k]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			p.fail(k, "no hexadecimal digit")
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
