package rule_test

import (
	"flag"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay/verify/rule"
)

var update = flag.Bool("update", false, "rewrite RULES.md")

// TestPage fails when RULES.md is not what the table says.
func TestPage(t *testing.T) {
	want := rule.Page(rule.All())
	if !utf8.ValidString(want) {
		t.Error("the page is not UTF-8")
	}
	if *update {
		if err := os.WriteFile("RULES.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile("RULES.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(have)); diff != "" {
		t.Errorf("RULES.md has drifted; go test ./replay/verify/rule -update (-want +have):\n%s", diff)
	}
}
