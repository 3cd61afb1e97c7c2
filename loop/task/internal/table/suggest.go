package table

import (
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/replay/text"
)

// maxListed is how many valid names a hint lists when none of them is near.
const maxListed = 16

// Suggest is the hint for a name that is not among the valid ones: the nearest
// of them, or all if they are few. What says what they are, as in "keys".
func Suggest(name string, valid []string, what string) string {
	if near, ok := Nearest(name, valid); ok {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	if len(valid) == 0 || len(valid) > maxListed {
		return ""
	}
	return what + " are: " + strings.Join(valid, ", ")
}

// Nearest is the valid name that a typist most likely meant.
func Nearest(name string, valid []string) (string, bool) {
	if near := text.Nearest(name, valid); len(near) > 0 {
		return near[0], true
	}
	return "", false
}

// Quote is a value in a message: short, and nothing of it if it looks like a
// key.
func Quote(s string) string {
	const shown = 40
	if LooksLikeKey(s) {
		return "a text that looks like an API key"
	}
	return strconv.Quote(text.Shorten(s, shown))
}
