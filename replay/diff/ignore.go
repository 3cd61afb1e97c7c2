package diff

import (
	"fmt"
	"slices"
	"strings"
)

// Volatile are the members that differ between two runs of the same task
// whatever happens in them. They are not compared unless asked for. They are
// names of members of entries, messages and blocks; members of arguments,
// results and schemas are never left out.
func Volatile() []string {
	return []string{"id", "parentId", "timestamp", "durationMs", "usage", "responseId"}
}

// structural are the members that say what the others mean: without them
// nothing can be aligned.
func structural() []string { return []string{"type", "role", "content", "message"} }

// ignored is a set of names of members.
type ignored map[string]bool

// CheckIgnored says which of the names cannot be left out.
func CheckIgnored(names []string) error {
	_, err := newIgnored(names)
	return err
}

func newIgnored(names []string) (ignored, error) {
	set := ignored{}
	for _, name := range names {
		if slices.Contains(structural(), name) {
			return nil, fmt.Errorf("%s cannot be ignored: entries are aligned by it (and by %s)", name,
				strings.Join(slices.DeleteFunc(structural(), func(s string) bool { return s == name }), ", "))
		}
		set[name] = true
	}
	return set, nil
}
