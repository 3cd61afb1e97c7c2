package loose

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a string of a chunk with its broken characters kept: bytes that
// are no UTF-8 as they came, and half of a surrogate pair as the three bytes
// that UTF-8 would give it. Servers cut tokens and characters apart; what
// encoding/json would turn into U+FFFD can be joined with the next one.
// Null and everything that is no string is empty.
type Text string

// UnmarshalJSON takes a string, or an array of text parts.
func (f *Text) UnmarshalJSON(b []byte) error {
	*f = ""
	switch {
	case len(b) >= 2 && b[0] == '"':
		*f = Text(unquote(b[1 : len(b)-1]))
	case len(b) > 0 && b[0] == '[':
		var parts []struct {
			Type string
			Text Text
		}
		_ = json.Unmarshal(b, &parts) // what is no text part is not text
		for _, p := range parts {
			*f += p.Text
		}
	}
	return nil
}

// unquote gives the inside of a JSON string, see Text.
func unquote(b []byte) string {
	first := bytes.IndexByte(b, '\\')
	if first < 0 {
		return string(b)
	}
	out := append(make([]byte, 0, len(b)), b[:first]...)
	for i := first; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		i++
		if b[i] != 'u' || i+4 >= len(b) {
			out = append(out, unescape(b[i]))
			continue
		}
		r := hex4(b[i+1:])
		i += 4
		if utf16.IsSurrogate(r) && i+6 < len(b) && b[i+1] == '\\' && b[i+2] == 'u' {
			if whole := utf16.DecodeRune(r, hex4(b[i+3:])); whole != utf8.RuneError {
				r = whole
				i += 6
			}
		}
		out = appendRune(out, r)
	}
	return string(out)
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c
}

func hex4(b []byte) rune {
	n, err := strconv.ParseUint(string(b[:min(4, len(b))]), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}

// appendRune is utf8.AppendRune that gives surrogates their three bytes.
func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(dst, r)
}

// surrogate decodes the three bytes of a surrogate at the start of s.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0, false
	}
	return rune(s[0]&0xf)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

// Repair makes s valid UTF-8: pairs of surrogates become their character, what
// cannot be mended U+FFFD.
func Repair(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if hi, ok := surrogate(s); ok {
			s = s[3:]
			lo, _ := surrogate(s)
			whole := utf16.DecodeRune(hi, lo)
			if whole != utf8.RuneError {
				s = s[3:]
			}
			b.WriteRune(whole)
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// Joiner makes valid text out of fragments. It holds back a character whose
// end may be in the next one.
type Joiner struct{ held string }

func (j *Joiner) Push(f Text) string {
	s := string(f)
	if j.held == "" && (s == "" || s[len(s)-1] < utf8.RuneSelf) {
		return Repair(s)
	}
	s = j.held + s
	n := len(s) - unfinished(s)
	s, j.held = s[:n], s[n:]
	return Repair(s)
}

func (j *Joiner) Flush() string {
	s := j.held
	j.held = ""
	return Repair(s)
}

// unfinished counts the bytes at the end of s that may begin a character.
func unfinished(s string) int {
	if len(s) >= 3 {
		if r, ok := surrogate(s[len(s)-3:]); ok && r < 0xdc00 {
			return 3
		}
	}
	for n := 1; n <= min(len(s), utf8.UTFMax-1); n++ {
		tail := s[len(s)-n:]
		if !utf8.RuneStart(tail[0]) {
			continue
		}
		// The first bytes of a surrogate are no beginning for package utf8.
		if !utf8.FullRuneInString(tail) || n == 2 && tail[0] == 0xed && tail[1] >= 0xa0 {
			return n
		}
		return 0
	}
	return 0
}

// MendEscapes replaces, in JSON text, escapes of half a surrogate pair by \ufffd: a
// history that holds one is refused by providers from then on.
func MendEscapes(text []byte) ([]byte, bool) {
	mended := false
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if text[i+1] != 'u' || i+6 > len(text) {
			i++
			continue
		}
		r := hex4(text[i+2:])
		paired := i+12 <= len(text) && text[i+6] == '\\' && text[i+7] == 'u' && isLow(hex4(text[i+8:]))
		switch {
		case isHigh(r) && paired:
			i += 11
			continue
		case isHigh(r) || isLow(r):
			if !mended {
				text, mended = bytes.Clone(text), true
			}
			copy(text[i:], `\ufffd`)
		}
		i += 5
	}
	return text, mended
}

func isHigh(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLow(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }
