package diff_test

import (
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/diff/calls"
)

// What a history does not record is not called the same.
func TestToolsNotRecorded(t *testing.T) {
	none := edited(t, strings.SplitAfter(shop, "\n")[1], "", `"parentId":"m1"`, `"parentId":null`)
	o := diff.Options{Mode: diff.OnlyTools, Ignore: diff.Volatile()}
	for _, r := range []*diff.Result{compare(t, []byte(shop), none, o), compare(t, none, []byte(shop), o)} {
		if out := text(t, r, diff.TextOptions{}); r.Equal() || !strings.Contains(out, "tools not compared") {
			t.Errorf("equal %v:\n%s", r.Equal(), out)
		}
	}
	if out := text(t, compare(t, none, none, o), diff.TextOptions{}); !strings.Contains(out, " record no tools: ") {
		t.Errorf("two histories without declarations: %s", out)
	}
}

// A damaged line may hold calls: it counts in mode calls as in the others.
func TestDamageAmongCalls(t *testing.T) {
	torn := append([]byte(shop), `{"type":"message","id":"m9","mess`...)
	o := diff.Options{Mode: diff.OnlyCalls, Sequence: calls.Subset}
	for _, r := range []*diff.Result{compare(t, []byte(shop), torn, o), compare(t, torn, []byte(shop), o)} {
		if out := text(t, r, diff.TextOptions{}); r.Equal() || len(r.Mismatches) > 0 || !strings.Contains(out, "torn_tail") {
			t.Errorf("equal %v:\n%s", r.Equal(), out)
		}
	}
	if r := compare(t, torn, torn, o); !r.Equal() {
		t.Errorf("differs from itself: %+v", r.Changes)
	}
}

// An argument that is not there is not shown as null.
func TestMissingArgument(t *testing.T) {
	r := compare(t, []byte(shop), edited(t, `"shelf":"apples","deep":true`, `"shelf":"apples"`), diff.Options{Mode: diff.OnlyCalls})
	if out := text(t, r, diff.TextOptions{}); !strings.Contains(out, "    - $.deep\n      - true\n") || strings.Contains(out, "null") {
		t.Errorf("a missing argument:\n%s", out)
	}
}

// Limits hold for the arguments of one call too.
func TestArgumentLimit(t *testing.T) {
	r := compare(t, []byte(shop), edited(t, `"shelf":"apples","deep":true`, `"shelf":"pears","deep":false`), diff.Options{Mode: diff.OnlyCalls})
	if out := text(t, r, diff.TextOptions{Limit: 1}); !strings.Contains(out, "    … 1 more\n") {
		t.Errorf("limit 1 shows:\n%s", out)
	}
}
