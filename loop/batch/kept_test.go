package batch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/task"
)

// A task that is finished stays finished, even if its transcript was moved
// away: running it again could repeat what it did.
func TestFinishedWithoutATranscriptIsKept(t *testing.T) {
	path := transcriptOf(t, &world{ran: map[string]int{}})
	o := Options{Files: parse(t, "e", eventful), Out: filepath.Dir(path), Resume: true}
	sum, _, err := play(t, t.Context(), o)
	if err != nil || sum.Kept != 1 || sum.Results[0].Answer != `{"sum":10}` {
		t.Errorf("%+v, %v", sum.Results, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	w := &world{ran: map[string]int{}}
	o.Tools = w.tools
	sum, _, err = play(t, t.Context(), o)
	if err != nil || sum.Kept != 1 || sum.Results[0].Status != policy.OK || len(w.ran) > 0 {
		t.Errorf("without its transcript: %+v, %v, ran %v", sum.Results, err, w.ran)
	}
}

// What kept tasks have used counts against the budget.
func TestKeptTasksCountInTheBudget(t *testing.T) {
	var files []*task.File
	for _, name := range []string{"a", "b", "c"} {
		files = append(files, parse(t, name, "version: 1\nprompt: go\nmodel: { provider: scripted, responses: [{ text: a, usage: { input: 1900, output: 100, totalTokens: 2000 } }] }\n")...)
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, _, err := play(t, t.Context(), Options{Files: files[:2], Out: out}); err != nil {
		t.Fatal(err)
	}
	sum, _, err := play(t, t.Context(), Options{Files: files, Out: out, Resume: true, Budget: task.Budget{Tokens: 4000}})
	if err != nil || sum.Kept != 2 || sum.Counts["skipped"] != 1 || sum.ExitCode != 4 {
		t.Errorf("%+v, %v", sum, err)
	}
}

func TestACostLimitNeedsAPrice(t *testing.T) {
	files := parse(t, "p", "version: 1\nprompt: go\nmodel: { provider: openai, name: m, base_url: \"http://127.0.0.1:1/v1\" }\n")
	_, _, err := play(t, t.Context(), Options{Files: files, Budget: task.Budget{CostUSD: 1}})
	var plan *PlanError
	if !errors.As(err, &plan) || !strings.Contains(err.Error(), "has no price") {
		t.Errorf("got %v", err)
	}
}

// What else lies in an output folder is not read, and its name is no pattern.
func TestForeignFilesInTheOutputFolder(t *testing.T) {
	out := filepath.Join(t.TempDir(), "night[1]")
	if err := os.MkdirAll(filepath.Join(out, "results.old.ndjson"), 0o700); err != nil {
		t.Fatal(err)
	}
	files := load(t, "hello.yaml")
	for i := range 2 {
		sum, _, err := play(t, t.Context(), Options{Files: files, Out: out, Resume: true})
		if err != nil || sum.Kept != i || sum.ExitCode != 0 {
			t.Errorf("run %d: %+v, %v", i, sum, err)
		}
	}
	other := filepath.Join(t.TempDir(), "out")
	if err := os.MkdirAll(filepath.Join(other, "hello.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	var refused *PlanError
	if _, _, err := play(t, t.Context(), Options{Files: files, Out: other, Resume: true}); !errors.As(err, &refused) {
		t.Errorf("a folder under the name of a transcript: %v, want a *PlanError", err)
	}
}
