package task

import (
	"fmt"
	"regexp"
)

// attempt is how the file of a later attempt of a task is called.
var attempt = regexp.MustCompile(`^(.+)\.try[0-9]+$`)

// Unique reports tasks of the files that would share a transcript: two with
// one id, or one with the id of a later attempt of another. The error is
// [Errors].
func Unique(files ...*File) error {
	owner := map[string]*File{}
	var all Errors
	clash := func(f *File, format string, args ...any) {
		all = append(all, Error{File: f.Path, Line: 1, Column: 1, Msg: fmt.Sprintf(format, args...), Hint: "give the tasks different names"})
	}
	for _, f := range files {
		for _, t := range f.Tasks {
			if other, twice := owner[t.ID]; twice {
				clash(f, "the task id %q is taken by %s", t.ID, other.Path)
				continue
			}
			owner[t.ID] = f
		}
	}
	for _, f := range files {
		for _, t := range f.Tasks {
			if m := attempt.FindStringSubmatch(t.ID); m != nil && owner[m[1]] != nil {
				clash(f, "the task id %q is that of a later attempt of %q", t.ID, m[1])
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
