package task

import (
	"strconv"
	"strings"

	show "github.com/turnlog/turnlog/replay/text"
)

// maxListed is how many valid names a hint lists when none of them is near.
const maxListed = 16

// suggest is the hint for a name that is not among the valid ones: the nearest
// of them, or all if they are few. What says what they are, as in "keys".
func suggest(name string, valid []string, what string) string {
	if near, ok := nearest(name, valid); ok {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	if len(valid) == 0 || len(valid) > maxListed {
		return ""
	}
	return what + " are: " + strings.Join(valid, ", ")
}

// nearest is the valid name that a typist most likely meant.
func nearest(name string, valid []string) (string, bool) {
	if near := show.Nearest(name, valid); len(near) > 0 {
		return near[0], true
	}
	return "", false
}
