package task_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop/task"
)

// loadFull reads the file that has every key.
func loadFull(t *testing.T) *task.File {
	t.Helper()
	data, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := task.Parse("store/full.yaml", data, task.Options{
		Env:     testEnv,
		BatchID: "b1",
		ReadFile: files(map[string]string{
			"store/system.md":          "You tidy.\n",
			"store/rules.md":           "Rules: ${{ not an expression.",
			"store/answer.schema.json": `{"type": "object", "required": ["boxes"]}`,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every field of the resolved tasks, as the digest sees them.
func TestEveryKey(t *testing.T) {
	f := loadFull(t)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode([]task.Task{f.Tasks[0], f.Tasks[len(f.Tasks)-1]}); err != nil {
		t.Fatal(err)
	}
	golden(t, "full.json", out.Bytes())

	var ids []string
	for _, one := range f.Tasks {
		ids = append(ids, strings.TrimPrefix(one.ID, "tidy-left."))
	}
	if got, want := strings.Join(ids, " "), "spoken.small.r1 spoken.small.r2 spoken.large.r1 spoken.large.r2 remote.large.r1 remote.large.r2"; got != want {
		t.Errorf("ids %s, want %s", got, want)
	}
}

// What is no part of the digest.
func TestEveryOtherKey(t *testing.T) {
	f := loadFull(t)
	last := f.Tasks[len(f.Tasks)-1]
	want := task.Task{
		Description: "Tidy one shelf of the store.",
		Labels:      map[string]string{"team": "store"},
		File:        "store/full.yaml", Dir: "store", Sample: 2,
		Cell: []task.Cell{{Axis: "who", Value: "remote"}, {Axis: "size", Value: "large"}},
		Extra: map[string]json.RawMessage{
			"x-quick":    json.RawMessage(`{"initial":"100ms","max":"2s"}`),
			"x-anything": json.RawMessage(`{"kept":[1,"two",3.0]}`),
		},
		Model: task.Model{
			Timeouts: task.Timeouts{Connect: 5 * time.Second, FirstToken: time.Minute, Idle: 30 * time.Second, Request: 150 * time.Second},
			Retry:    task.Retry{Attempts: 3, Initial: 100 * time.Millisecond, Max: 2 * time.Second, RetryAfterMax: time.Minute},
			Rate:     task.Rate{Concurrent: 2, RequestsPerMinute: 60},
		},
	}
	got := task.Task{
		Description: last.Description, Labels: last.Labels, File: last.File, Dir: last.Dir, Sample: last.Sample, Cell: last.Cell, Extra: last.Extra,
		Model: task.Model{Timeouts: last.Model.Timeouts, Retry: last.Model.Retry, Rate: last.Model.Rate},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	batch := task.Batch{Concurrency: 2, Retries: 1, Budget: task.Budget{CostUSD: 2, Tokens: 1_000_000, Wall: time.Hour}}
	if diff := cmp.Diff(batch, f.Batch); diff != "" {
		t.Errorf("batch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shelf", "boxes", "heavy", "weight", "rules", "sizes"}, f.Vars); diff != "" {
		t.Errorf("vars (-want +got):\n%s", diff)
	}
	if got := last.Assert[7]; got.Kind != "text" || got.Severity != task.SeverityWarning || got.Place != (task.Place{Line: 128, Column: 5}) {
		t.Errorf("assertion %s %s at %v", got.Kind, got.Severity, got.Place)
	}
}

// The file uses every key of the schema, so that none goes untested.
func TestFullUsesEveryKey(t *testing.T) {
	data, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := validate(t, data); err != nil {
		t.Error(err)
	}
	known := map[string]string{
		"prompt": "in prompts", "required": "no variable of it is required", "errorMessage": "", "ignoreAbort": "", "noEnd": "", "throw": "",
		"api_key_env": "excludes api_key_command", "contains": "", "write": "", "ls": "", "find": "", "grep": "",
	}
	for _, name := range schemaKeys(t) {
		if _, ok := known[name]; !ok && !bytes.Contains(data, []byte(name+":")) {
			t.Errorf("the key %s is not in testdata/full.yaml", name)
		}
	}
}

// schemaKeys lists the names of all properties of the schema.
func schemaKeys(t *testing.T) []string {
	t.Helper()
	var root any
	if err := json.Unmarshal(task.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	var names []string
	var walk func(any)
	walk = func(node any) {
		switch node := node.(type) {
		case []any:
			for _, item := range node {
				walk(item)
			}
		case map[string]any:
			if properties, ok := node["properties"].(map[string]any); ok {
				for name := range properties {
					names = append(names, name)
				}
			}
			for _, child := range node {
				walk(child)
			}
		}
	}
	walk(root)
	return names
}
