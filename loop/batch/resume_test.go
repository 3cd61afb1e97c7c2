package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

var every = flag.Bool("every", false, "cut transcripts at every byte")

// eventful is a task with all that an interruption can tear: calls at once and
// in sequence, tools that may run twice and tools that may not, steering, a
// follow-up, a change of tools, two prompts, an answer that is owed.
const eventful = `
version: 1
model:
  provider: scripted
  responses:
    - text: two at once
      calls: [{ name: look, arguments: { n: 1 } }, { name: send, arguments: { n: 2 } }]
    - text: one
      calls: [{ name: send, arguments: { n: 3 } }]
    - text: steered
    - text: followed
    - text: again
      calls: [{ name: look, arguments: { n: 4 } }]
    - text: the answer
      calls: [{ name: submit_answer, arguments: { sum: 10 } }]
    - text: afterwards
system: Be brief.
tools: [read]
prompts: [first, second]
steering: { messages: [{ when: { after_turn: 2 }, text: look out }] }
follow_ups: [and then]
finish:
  output: { schema: { type: object, properties: { sum: { type: integer } }, required: [sum] } }
`

// world counts what the tools of eventful did, over all processes.
type world struct {
	mu  sync.Mutex
	ran map[string]int
}

func (w *world) tools(*task.Task, []task.Tool) ([]loop.Tool, error) {
	made := func(name string, e loop.Effects) loop.Tool {
		return loop.Tool{
			Tool:    transcript.Tool{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
			Effects: e,
			Run: func(_ context.Context, c transcript.Call, _ func(loop.Result)) (loop.Result, error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.ran[name+string(c.Arguments)]++
				return loop.Result{Content: []transcript.Block{transcript.TextBlock("done " + string(c.Arguments))}}, nil
			},
		}
	}
	return []loop.Tool{made("look", loop.Read), made("send", loop.External)}, nil
}

// findings verifies a transcript and returns the errors and warnings.
func findings(t testing.TB, path string) []verify.Finding {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	res, err := verify.Run(t.Context(), verify.Source{Name: path, Reader: bytes.NewReader(data)}, rule.All(), verify.Options{Finished: true})
	if err != nil {
		t.Fatal(err)
	}
	var bad []verify.Finding
	for _, f := range res.Findings {
		if f.Severity != verify.Note {
			bad = append(bad, f)
		}
	}
	return bad
}

// transcriptOf plays eventful to its end and returns the file.
func transcriptOf(t testing.TB, w *world) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	sum, _, err := play(t, t.Context(), Options{Files: parse(t, "e", eventful), Out: out, Tools: w.tools, Sync: journal.SyncNone})
	if err != nil || sum.ExitCode != 0 {
		t.Fatalf("%+v, %v", sum.Results, err)
	}
	return filepath.Join(out, "e.jsonl")
}

func TestEventfulIsClean(t *testing.T) {
	w := &world{ran: map[string]int{}}
	path := transcriptOf(t, w)
	for _, f := range findings(t, path) {
		t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
	}
	if want := `map[look{"n":1}:1 look{"n":4}:1 send{"n":2}:1 send{"n":3}:1]`; fmt.Sprint(w.ran) != want {
		t.Errorf("tools ran %v, want %s", w.ran, want)
	}
	got := strings.Join(kinds(entries(t, path)), " ")
	if n := strings.Count(got, "user"); n != 4 {
		t.Errorf("%d user messages in %s", n, got)
	}
}

// A transcript that is cut anywhere is resumed to its end; nothing is worse
// than the torn line at the cut, and nothing with effects runs twice.
func TestFault58CutAtEveryByteAndResume(t *testing.T) {
	first := &world{ran: map[string]int{}}
	whole, err := os.ReadFile(transcriptOf(t, first))
	if err != nil {
		t.Fatal(err)
	}
	step := 29 // all of them take a minute: -args -every
	switch {
	case *every:
		step = 1
	case testing.Short():
		step = 211
	}
	files := parse(t, "e", eventful)
	for cut := 0; cut < len(whole); cut += step {
		resumeCut(t, files, whole, cut)
		if t.Failed() {
			t.Fatalf("cut at byte %d of %d", cut, len(whole))
		}
	}
	for at := range whole { // every line end, from both sides
		if whole[at] == '\n' {
			resumeCut(t, files, whole, at)
			resumeCut(t, files, whole, at+1)
		}
		if t.Failed() {
			t.Fatalf("cut at the line end at byte %d of %d", at, len(whole))
		}
	}
}

func resumeCut(t *testing.T, files []*task.File, whole []byte, cut int) {
	t.Helper()
	out := t.TempDir()
	path := filepath.Join(out, "e.jsonl")
	if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{ran: map[string]int{}}
	// a call whose intent is on disk may have run
	maps.Copy(w.ran, intents(whole[:cut]))
	sum, c, err := play(t, t.Context(), Options{Files: files, Out: out, Resume: true, Tools: w.tools, Sync: journal.SyncNone})
	if err != nil || sum.ExitCode != 0 {
		t.Errorf("%+v, %v", sum.Results, err)
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(data, whole[:cut]) {
		t.Error("what was there was changed")
	}
	for name, n := range w.ran {
		if strings.HasPrefix(name, "send") && n > 1 {
			t.Errorf("%s ran %d times", name, n)
		}
	}
	for _, f := range findings(t, path) {
		if f.Rule != "torn-line" {
			t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
		}
	}
	checkShown(t, c, data)
}

// intents counts the calls with effects whose intent is in a transcript.
func intents(data []byte) map[string]int {
	args, ran := map[string]string{}, map[string]int{}
	for line := range transcript.Lines(bytes.NewReader(data), transcript.Options{}) {
		for i := range line.Records {
			e := &line.Records[i]
			if e.Message != nil {
				for _, c := range e.Message.Calls() {
					args[c.ID] = c.Name + string(c.Arguments)
				}
			}
			if e.Custom != nil && e.Custom.CustomType == transcript.CustomCall {
				var intent transcript.CallIntent
				if e.Custom.Decode(&intent) == nil {
					ran[args[intent.ToolCallID]]++
				}
			}
		}
	}
	return ran
}

// checkShown checks that every message and result that a reader saw is in the
// transcript.
func checkShown(t *testing.T, c *capture, data []byte) {
	t.Helper()
	messages, results := recorded(t, data)
	for _, r := range c.records(t) {
		switch r.Type {
		case "message_end":
			if m := encoded(t, r.Raw["message"]); !messages[m] {
				t.Errorf("this message was shown and is not in the transcript: %s", m)
			}
		case "tool_execution_end":
			id, _ := r.Raw["toolCallId"].(string)
			content := encoded(t, r.Raw["result"].(map[string]any)["content"])
			if !slices.Contains(results[id], content) {
				t.Errorf("the result %s of %s was shown and is not in the transcript, which has %q", content, id, results[id])
			}
		}
	}
}

// recorded are the messages of a transcript, and the contents of its results by
// call.
func recorded(t *testing.T, data []byte) (messages map[string]bool, results map[string][]string) {
	t.Helper()
	messages, results = map[string]bool{}, map[string][]string{}
	for line := range bytes.Lines(data) {
		var e struct {
			CustomType string
			Message    map[string]any
			Data       struct {
				ToolCallID string
				Result     struct{ Content any }
			}
		}
		if json.Unmarshal(line, &e) != nil { // torn
			continue
		}
		id, content := e.Data.ToolCallID, e.Data.Result.Content
		if e.Message != nil {
			messages[encoded(t, e.Message)] = true
			id, _ = e.Message["toolCallId"].(string)
			content = e.Message["content"]
		}
		if e.Message != nil || e.CustomType == transcript.CustomResult {
			results[id] = append(results[id], encoded(t, content))
		}
	}
	return messages, results
}

// encoded is v with the members of its objects in order.
func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestFinishedTasksAreKept(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	files := load(t, "hello.yaml")
	if _, _, err := play(t, t.Context(), Options{Files: files, Out: out}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(out, "hello.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	sum, c, err := play(t, t.Context(), Options{Files: files, Out: out, Resume: true})
	if err != nil || sum.Kept != 1 || sum.Counts["ok"] != 1 || sum.ExitCode != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if got := strings.Join(types(c.records(t)), " "); got != "batch_start batch_end" {
		t.Errorf("events %s", got)
	}
	if after, err := os.ReadFile(filepath.Join(out, "hello.jsonl")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the transcript changed, %v", err)
	}
	// A task that says something else is another task.
	changed := load(t, "hello.yaml")
	changed[0].Tasks[0].Prompts = []string{"something else"}
	sum, _, err = play(t, t.Context(), Options{Files: changed, Out: out, Resume: true})
	if err != nil || sum.Kept != 0 || sum.Results[0].Transcript != "hello.try2.jsonl" {
		t.Errorf("%+v, %v", sum.Results, err)
	}
}

func TestRetryErrors(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	files := parse(t, "e", "version: 1\nprompt: go\nmodel: { provider: scripted, responses: [{ text: fine }] }\n")
	fail := func(*task.Task) (loop.Model, error) { return failing{}, nil }
	sum, _, err := play(t, t.Context(), Options{Files: files, Out: out, Model: fail})
	if err != nil || sum.ExitCode != 3 {
		t.Fatalf("%+v, %v", sum, err)
	}
	sum, _, err = play(t, t.Context(), Options{Files: files, Out: out, Resume: true})
	if err != nil || sum.Kept != 1 || sum.ExitCode != 3 {
		t.Errorf("without retry: %+v, %v", sum, err)
	}
	sum, _, err = play(t, t.Context(), Options{Files: files, Out: out, Resume: true, RetryErrors: true})
	if err != nil || sum.ExitCode != 0 || sum.Results[0].Transcript != "e.try2.jsonl" || sum.Results[0].Attempt != 2 {
		t.Errorf("with retry: %+v, %v", sum, err)
	}
	ended, err := results.Read(out)
	if err != nil || ended["e"].Status != policy.OK {
		t.Errorf("ended %+v, %v", ended, err)
	}
}

// The attempts at a task that changed are counted on from those at the old one.
func TestRetryOfAChangedTask(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	yaml := "version: 1\nprompt: go\nbatch: { retries: 1 }\nmodel: { provider: scripted, responses: [{ text: fine }] }\n"
	if _, _, err := play(t, t.Context(), Options{Files: parse(t, "e", yaml), Out: out}); err != nil {
		t.Fatal(err)
	}
	changed := parse(t, "e", strings.Replace(yaml, "go", "go on", 1))
	fail := func(*task.Task) (loop.Model, error) { return failing{}, nil }
	sum, _, err := play(t, t.Context(), Options{Files: changed, Out: out, Resume: true, Model: fail})
	if err != nil || sum.Results[0].Attempt != 3 || !strings.Contains(sum.Results[0].Reason, "503") {
		t.Errorf("%+v, %v", sum.Results, err)
	}
}
