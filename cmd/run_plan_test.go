package cmd_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/cmd"
)

// sharedExample copies the annotated task file of the design into a folder,
// with the files that it names.
func sharedExample(t *testing.T) (dir string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "shared", "task.example.yaml"))
	if err != nil {
		t.Skip("the annotated example is not here: ", err)
	}
	dir = t.TempDir()
	for name, text := range map[string]string{
		"task.example.yaml": string(raw), "style.md": "Write short entries.", "system.md": "You audit changelogs.",
		"schemas/audit.schema.json": `{"type":"object","properties":{"missing":{"type":"array"}},"required":["missing"]}`,
		"scripts/merged-prs":        "#!/bin/sh\ntouch started\n", "scripts/check-links": "#!/bin/sh\ntouch started\n", "scripts/grade": "#!/bin/sh\ntouch started\n",
		"baselines/changelog-audit.jsonl": string(recording(t)),
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

// recording is a transcript of a run.
func recording(t *testing.T) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	runTurnlog(t, "run", "-q", "--out", out, "../fixtures/tasks/hello.yaml")
	raw, err := os.ReadFile(filepath.Join(out, "hello.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The annotated example is nine tasks with a bound of what they can cost.
// Planning starts nothing and writes nothing.
func TestPlanOfTheAnnotatedExample(t *testing.T) {
	dir := sharedExample(t)
	before := listing(t, dir)
	t.Chdir(dir)
	var lines []map[string]any
	for line := range strings.Lines(runTurnlog(t, "run", "--plan", "--var", "since=v1.2.0", "task.example.yaml")) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	var ids []string
	for _, l := range lines[:len(lines)-1] {
		ids = append(ids, l["id"].(string))
		want := 0.0
		if l["provider"] == "openai" {
			want = 1.0 // 0.50 for the task, twice because of one retry
		}
		if l["type"] != "plan" || l["action"] != "run" || l["maxCostUsd"] != want {
			t.Errorf("%v, want a cost of %v", l, want)
		}
	}
	want := []string{
		"changelog-audit.main.dev.r1", "changelog-audit.main.dev.r2", "changelog-audit.main.dev.r3",
		"changelog-audit.main.ops.r1", "changelog-audit.main.ops.r2", "changelog-audit.main.ops.r3",
		"changelog-audit.offline.dev.r1", "changelog-audit.offline.dev.r2", "changelog-audit.offline.dev.r3",
	}
	if !slices.Equal(ids, want) {
		t.Errorf("tasks %q", ids)
	}
	if end := lines[len(lines)-1]; end["type"] != "plan_end" || end["tasks"] != 9.0 || end["maxCostUsd"] != 5.0 {
		t.Errorf("end %v, want 9 tasks for at most 5 USD, the budget of the batch", end)
	}
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("the folder has %q, had %q", after, before)
	}
}

// A missing variable is an error that is said once, not once per task.
func TestPlanSaysEachMistakeOnce(t *testing.T) {
	dir := sharedExample(t)
	t.Chdir(dir)
	if err := os.Remove("baselines/changelog-audit.jsonl"); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--var", "since=v1"}} {
		var out, errs strings.Builder
		code := cmd.Main(t.Context(), append([]string{"run", "--plan", "task.example.yaml"}, args...),
			cmd.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		if code != 2 || out.Len() > 0 {
			t.Errorf("%v: exit %d, %q", args, code, out.String())
		}
		seen := map[string]bool{}
		for line := range strings.Lines(errs.String()) {
			if seen[line] {
				t.Errorf("%v: said twice: %s", args, line)
			}
			seen[line] = true
		}
	}
}

// A limit of money is no limit if nobody knows what a token costs.
func TestCostLimitNeedsAPrice(t *testing.T) {
	e := serve(t, says("done"))
	for _, args := range [][]string{{"--max-cost-usd", "1"}, {"--max-cost-usd", "1", "--plan"}} {
		r := runTask(t, openAITask(e.URL, ""), args...)
		if r.code != 2 || len(r.events) > 0 || e.requests() > 0 || !strings.Contains(r.stderr, "t.yaml:4:3: ") || !strings.Contains(r.stderr, "price") {
			t.Errorf("%v: exit %d, %q", args, r.code, r.stderr)
		}
	}
	r := runTask(t, asked(e.URL, "  price: { input: 1, output: 1 }\n", ""), "--max-cost-usd", "1")
	if r.code != 0 {
		t.Errorf("with a price: exit %d, %q", r.code, r.stderr)
	}
}

func listing(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Labels are free text for those who read reports; they are wherever a task is
// listed.
func TestLabels(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "t.yaml"), toolRun{tools: worker("work"), more: "description: About labels.\nlabels: { tier: nightly, team: docs & co }\n"}.yaml())
	junit := filepath.Join(dir, "junit.xml")
	r := runIn(t, dir, "--report", "junit="+junit)
	want := map[string]any{"team": "docs & co", "tier": "nightly"}
	start := r.all("task_start")[0]
	results, err := os.ReadFile(filepath.Join(dir, "out", "results.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, start["labels"]); d != "" || start["description"] != "About labels." {
		t.Errorf("task_start %v", start)
	}
	if d := cmp.Diff(want, r.end["labels"]); d != "" || !strings.Contains(string(results), `"labels":{"team":"docs & co","tier":"nightly"}`) {
		t.Errorf("task_end %v, results %s", r.end, results)
	}
	raw, err := os.ReadFile(junit)
	if err != nil || !strings.Contains(string(raw), `<property name="team" value="docs &amp; co"></property>`) {
		t.Errorf("%v: %s", err, raw)
	}
}
