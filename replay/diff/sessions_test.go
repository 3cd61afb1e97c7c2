package diff_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff"
)

// session reads one of pi's recorded sessions, which lie beside the
// repository. A stranger's clone does not have them.
func session(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "pi-sessions", name))
	if err != nil {
		t.Skipf("%v: pi's sessions are not compared", err)
	}
	return content
}

// A fork and what it was made of part behind the first exchange, although the
// fork's label has another id.
func TestFork(t *testing.T) {
	r := compare(t, session(t, "fork.jsonl"), session(t, "fork-2.jsonl"), ignoring())
	if want := (diff.Common{Turns: 1, Messages: 3}); r.Common != want {
		t.Errorf("common %+v, want %+v", r.Common, want)
	}
	if d := r.Divergence; d == nil || d.A == nil || d.B == nil || d.A.Text != "two" || d.B.Text != "three" || d.A.Line != 8 {
		t.Errorf("divergence %+v", r.Divergence)
	}
	var categories []diff.Category
	for _, c := range r.Changes {
		categories = append(categories, c.Category)
	}
	if want := []diff.Category{diff.Input, diff.Answer}; !slices.Equal(categories, want) || len(r.Causes) > 0 {
		t.Errorf("categories %v, want %v; causes %v", categories, want, r.Causes)
	}
}

// A redefined tool and changed tool sets are causes: they are named with the
// turns to which they apply.
func TestToolChanges(t *testing.T) {
	a, b := session(t, "tool-changes.jsonl"), session(t, "tool-redefined.jsonl")
	r := compare(t, a, b, ignoring())
	if want := []diff.Category{diff.Tools, diff.Prompt}; !slices.Equal(r.Causes, want) {
		t.Errorf("causes %v, want %v", r.Causes, want)
	}
	out := text(t, r, diff.TextOptions{})
	for _, want := range []string{"\ncause: tools from turn 1: - bash, + lookup\n", "\n  - bash  a:4 turns 1-6 | turns 1-2\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the text does not have %q:\n%s", want, out)
		}
	}
	// Within one file: the same tool before and after its redefinition.
	first := diff.Options{Mode: diff.OnlyTools, At: replay.Cut{Turn: 2}}
	second := diff.Options{Mode: diff.OnlyTools, At: replay.Cut{Turn: 4}}
	redefined, err := diff.Compare(t.Context(), read(t, "before", b, first), read(t, "after", b, second), first)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, c := range redefined.Changes {
		paths = append(paths, c.Subject+" "+c.Path)
	}
	if !slices.Contains(paths, "lookup $.description") || !slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, "lookup $.parameters") }) {
		t.Errorf("redefinition: %q", paths)
	}
}
