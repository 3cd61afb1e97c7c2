package verify_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

var casesDir = flag.String("cases", "", "folder of NAME.jsonl with NAME.expect.json to check instead of ../shared/verify/cases")

// place is what a case expects of a finding.
type place struct {
	Rule string `json:"rule"`
	Line int    `json:"line"`
}

// TestCases checks inputs that others wrote: each must give exactly the
// expected findings.
func TestCases(t *testing.T) {
	dir := *casesDir
	if dir == "" {
		dir = shared(t, "verify", "cases")
	} else if _, err := os.Stat(dir); err != nil && !filepath.IsAbs(dir) {
		dir = filepath.Join("..", "..", dir) // written at the root of the repository
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no case in %s", dir)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			want := expected(t, strings.TrimSuffix(file, ".jsonl")+".expect.json")
			if diff := gocmp.Diff(want, places(checkFile(t, file).Findings), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// expected reads the findings that a case must give.
func expected(t *testing.T, path string) []place {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []place
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, p := range want {
		if _, err := verify.Find(rule.All(), p.Rule); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	sortPlaces(want)
	return want
}

func places(findings []verify.Finding) []place {
	var got []place
	for _, f := range findings {
		got = append(got, place{f.Rule, f.Line})
	}
	sortPlaces(got)
	return slices.Compact(got)
}

func sortPlaces(ps []place) {
	slices.SortFunc(ps, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule))
	})
}
