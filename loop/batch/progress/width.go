package progress

import (
	"unicode"

	"golang.org/x/text/width"
)

// columns is how many columns of a terminal a rune takes.
func columns(r rune) int {
	if r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
