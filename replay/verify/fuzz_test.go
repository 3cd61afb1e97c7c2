package verify_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/turnlog/turnlog/replay/verify"
)

// FuzzRun takes any bytes through the whole way to findings: no panic of a
// rule, no error, the same findings again, and each at a line that there is.
func FuzzRun(f *testing.F) {
	for _, r := range rules() {
		f.Add([]byte(r.Bad))
		f.Add([]byte(r.Good))
	}
	for _, pattern := range []string{"../../fixtures/ok/*.jsonl", "../../fixtures/err/*.jsonl"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Add(growTreeFile(1))
	f.Fuzz(func(t *testing.T, b []byte) {
		result, err := verify.Run(t.Context(), memory("fuzz", b), rules(), verify.Options{})
		if err != nil {
			return // a newer format; anything else would be a panic or an I/O error
		}
		lines := bytes.Count(b, []byte("\n")) + 1
		for i, finding := range result.Findings {
			if finding.Line < 0 || finding.Line > lines || finding.Severity.Rank() == 0 || finding.Fingerprint == "" || finding.Message == "" {
				t.Fatalf("%+v", finding)
			}
			if i > 0 && verify.Compare(result.Findings[i-1], finding) > 0 {
				t.Fatalf("not sorted: %+v", result.Findings)
			}
		}
		again, err := verify.Run(t.Context(), verify.Source{Name: "fuzz", Reader: bytes.NewReader(b)}, rules(), verify.Options{})
		if err != nil || !slices.EqualFunc(result.Findings, again.Findings, func(a, b verify.Finding) bool {
			return a.Rule == b.Rule && a.Line == b.Line && a.Fingerprint == b.Fingerprint && a.Severity == b.Severity
		}) {
			t.Fatalf("another run finds something else: %v\n%v\n%v", err, result.Findings, again.Findings)
		}
	})
}

func growTreeFile(seed uint64) []byte {
	tr := growTree(rand.New(rand.NewPCG(seed, 3)).IntN, 60, 5, true)
	return tr.file(nil)
}

// TestDamageIsLocal damages one line of a session without branches: findings
// about other lines stay as they are, but for those that name the lost line,
// and no new ones appear on lines before it.
func TestDamageIsLocal(t *testing.T) {
	text, _ := expand(t, clean)
	lines := bytes.SplitAfter([]byte(text), []byte("\n"))
	for i := range len(lines) - 1 {
		for cut := 1; cut < len(lines[i])-1; cut += 7 {
			damaged := slices.Clone(lines)
			damaged[i] = append(bytes.Clone(lines[i][:cut]), '\n')
			result := check(t, "damaged", bytes.Join(damaged, nil), verify.Options{})
			for _, f := range result.Findings {
				here := f.Line == i+1
				child := f.Rule == "dangling-parent" && f.Line == i+2
				pointer := f.Rule == "dangling-reference" || f.Rule == "compaction-target-missing"
				if !here && !child && !pointer {
					t.Errorf("line %d cut at %d: line %d: %s [%s]", i+1, cut, f.Line, f.Message, f.Rule)
				}
			}
		}
	}
}
