package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnlog/turnlog/replay/verify"
)

func TestBaseline(t *testing.T) {
	a, b := verify.Finding{Rule: "r", Fingerprint: "a"}, verify.Finding{Rule: "r", Fingerprint: "b"}
	var w Baseline
	w.Add("z.jsonl", []verify.Finding{a})
	w.Add("a.jsonl", []verify.Finding{b, a})
	var file bytes.Buffer
	if err := w.Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := ReadBaseline(&file)
	if err != nil {
		t.Fatal(err)
	}
	moved := a
	moved.Line = 99
	fresh, known := read.Filter("a.jsonl", []verify.Finding{moved, a, b})
	if d := cmp.Diff([]verify.Finding{a}, fresh, cmpopts.IgnoreUnexported(verify.Finding{})); d != "" || known != 2 {
		t.Errorf("known %d, fresh (-want +got):\n%s", known, d)
	}
	if fresh, known := read.Filter("other.jsonl", []verify.Finding{a}); len(fresh) != 1 || known != 0 {
		t.Error("a baseline accepts a finding of another file")
	}
	if read.Gone() != 1 {
		t.Errorf("gone %d, want 1", read.Gone())
	}
}

func TestReadBaselineRefuses(t *testing.T) {
	for _, file := range []string{``, `[]`, `{"version":2,"findings":[]}`, `{"version":1,"findings":[{"file":"a"}]}`, `{"findings":[],"files":1}`} {
		if _, err := ReadBaseline(strings.NewReader(file)); err == nil {
			t.Errorf("%s: no error", file)
		}
	}
}
