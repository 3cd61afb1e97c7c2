package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnlog/turnlog/replay/verify"
)

func TestBaseline(t *testing.T) {
	t.Chdir(t.TempDir())
	ignore := func(string) {}
	a, b := verify.Finding{Rule: "r", Fingerprint: "a"}, verify.Finding{Rule: "r", Fingerprint: "b"}
	w, err := OpenBaseline("", "known.json")
	if err != nil {
		t.Fatal(err)
	}
	w.filter("z.jsonl", []verify.Finding{a})
	w.filter("a.jsonl", []verify.Finding{b, a})
	if err := w.finish(ignore, true); err != nil {
		t.Fatal(err)
	}
	read, err := OpenBaseline("known.json", "")
	if err != nil {
		t.Fatal(err)
	}
	moved := a
	moved.Line = 99
	fresh := read.filter("a.jsonl", []verify.Finding{moved, a, b})
	if d := cmp.Diff([]verify.Finding{a}, fresh, cmpopts.IgnoreUnexported(verify.Finding{})); d != "" || read.known != 2 {
		t.Errorf("known %d, fresh (-want +got):\n%s", read.known, d)
	}
	if fresh := read.filter("other.jsonl", []verify.Finding{a}); len(fresh) != 1 || read.known != 2 {
		t.Error("a baseline accepts a finding of another file")
	}
	if read.gone() != 1 {
		t.Errorf("gone %d, want 1", read.gone())
	}
}

func TestParseBaselineRefuses(t *testing.T) {
	for _, file := range []string{``, `[]`, `{"version":2,"findings":[]}`, `{"version":1,"findings":[{"file":"a"}]}`, `{"findings":[],"files":1}`} {
		if _, err := parseBaseline(strings.NewReader(file)); err == nil {
			t.Errorf("%s: no error", file)
		}
	}
}

// A baseline is somebody's file: it is read or refused.
func FuzzBaseline(f *testing.F) {
	f.Add([]byte(`{"version":1,"findings":[{"file":"a","rule":"r","fingerprint":"f","message":"m"}]}`))
	f.Add([]byte(`{"version":1,"findings":null}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		name := filepath.Join(dir, "known.json")
		if err := os.WriteFile(name, file, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := OpenBaseline(name, "")
		if err != nil {
			return
		}
		before := b.gone()
		b.filter(filepath.Join(dir, "a"), []verify.Finding{{Fingerprint: "f"}})
		if b.gone() != before-b.known {
			t.Errorf("accepted %d, %d left of %d", b.known, b.gone(), before)
		}
	})
}
