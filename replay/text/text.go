// Package text says things to people: names and values that strangers wrote, in
// messages, reports and terminals. It stands below all other packages.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cutSign stands where something was left out.
const cutSign = "…"

// Printable shows what a terminal, a log viewer or a person would otherwise
// obey or not see: control characters, escape sequences, bidirectional
// overrides (https://trojansource.codes), bytes that are no UTF-8.
func Printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b.String()
}

// Shorten keeps the first n runes of s and says if there are more.
func Shorten(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + cutSign
		}
		n--
	}
	return s
}

// Fit is s in at most n runes, the sign of the cut among them.
func Fit(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return Shorten(s, max(n-1, 0))
}

// Clip keeps the first n bytes of s, of whole runes only, and says if there are
// more. It does not walk what it cuts off.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + cutSign
}

// Plural writes a count with its noun: 1 file, 2 files.
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	case strings.HasSuffix(noun, "ch"):
		return fmt.Sprintf("%d %ses", n, noun)
	default:
		return fmt.Sprintf("%d %ss", n, noun)
	}
}
