package cmd_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/cmd"
)

// No file differs from itself, in one line; what cannot be compared is refused
// and never called equal.
func TestNoFileDiffersFromItself(t *testing.T) {
	compared := 0
	for _, root := range []string{"../fixtures", "../../shared"} {
		// Without the material beside the repository its own fixtures remain.
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" && filepath.Ext(path) != ".ndjson" {
				return nil
			}
			var out, errs strings.Builder
			code := cmd.Main(t.Context(), []string{"diff", path, path}, cmd.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			switch {
			case code == 0 && strings.Count(out.String(), "\n") == 1 && strings.Contains(out.String(), " are equal: "):
				compared++
			case code == 2 && out.Len() == 0 && strings.Contains(errs.String(), "not a transcript that can be compared"):
			default:
				t.Errorf("turnlog diff %s %[1]s: exit %d\n%s%s", path, code, out.String(), errs.String())
			}
			return nil
		})
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
