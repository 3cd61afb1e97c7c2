package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// parse makes tasks of YAML text.
func parse(t testing.TB, name, yaml string) []*task.File {
	t.Helper()
	f, err := task.Parse(filepath.Join(t.TempDir(), name+".yaml"), []byte(yaml), task.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return []*task.File{f}
}

// load reads one of the project's task files.
func load(t testing.TB, name string) []*task.File {
	t.Helper()
	f, err := task.Load(filepath.Join("..", "..", "fixtures", "tasks", name), task.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return []*task.File{f}
}

// capture keeps the events of a batch as lines.
type capture struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.Write(p)
}

// record is an event as a reader sees it.
type record struct {
	Type   string
	Task   string
	Seq    int64
	Time   string
	Run    string
	Status string
	Raw    map[string]any
}

func (c *capture) records(t testing.TB) []record {
	t.Helper()
	var rs []record
	for line := range strings.Lines(c.buf.String()) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("event %q: %v", line, err)
		}
		if err := json.Unmarshal([]byte(line), &r.Raw); err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	return rs
}

func types(rs []record) []string {
	var ts []string
	for _, r := range rs {
		if r.Type != "message_update" {
			ts = append(ts, r.Type)
		}
	}
	return ts
}

// play runs tasks and returns what was shown.
func play(t testing.TB, ctx context.Context, o Options) (Summary, *capture, error) {
	t.Helper()
	c := &capture{}
	if o.Out == "" {
		o.Out = filepath.Join(t.TempDir(), "out")
	}
	if o.Sink == nil {
		o.Sink = &NDJSON{W: c}
	}
	sum, err := Run(ctx, o)
	return sum, c, err
}

// entries reads a transcript that must be without damage.
func entries(t testing.TB, path string) []transcript.Entry {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var es []transcript.Entry
	for line, err := range transcript.Lines(f, transcript.Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		if line.Damage != transcript.Intact {
			t.Fatalf("%s:%d is damaged", path, line.No)
		}
		es = append(es, line.Records...)
	}
	return es
}

// kinds says what each entry is.
func kinds(es []transcript.Entry) []string {
	var ks []string
	for i := range es {
		e := &es[i]
		switch {
		case e.Message != nil:
			ks = append(ks, string(e.Message.Role))
		case e.Type == transcript.TypeCustom:
			ks = append(ks, e.Custom.CustomType)
		default:
			ks = append(ks, e.Type)
		}
	}
	return ks
}

func TestHello(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	sum, c, err := play(t, t.Context(), Options{Files: load(t, "hello.yaml"), Out: out, Version: "v0"})
	if err != nil || sum.ExitCode != 0 || sum.Counts["ok"] != 1 {
		t.Fatalf("summary %+v, %v", sum, err)
	}
	rs := c.records(t)
	want := []string{
		"batch_start", "task_start", "agent_start", "turn_start",
		"message_start", "message_end", "message_start", "message_end", "message_start", "message_end",
		"tool_execution_start", "tool_execution_end", "message_start", "message_end", "turn_end",
		"turn_start", "message_start", "message_end", "turn_end", "agent_end", "agent_settled",
		"task_end", "batch_end",
	}
	if d := cmp.Diff(want, types(rs)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	inRun, seq := false, int64(0)
	for _, r := range rs[1 : len(rs)-1] {
		seq++
		inRun = inRun || r.Type == "agent_start"
		if r.Task != "hello" || r.Seq != seq || r.Time == "" || (r.Run != "") != inRun {
			t.Errorf("event %d: %s task %q seq %d time %q run %q", seq, r.Type, r.Task, r.Seq, r.Time, r.Run)
		}
		if r.Type == "agent_settled" {
			inRun = false
		}
	}
	wantKinds := []string{
		"session", "turnlog.run", "model_change", "thinking_level_change", "system", "user",
		"turnlog.request", "assistant", "turnlog.call", "toolResult", "turnlog.turn",
		"turnlog.request", "assistant", "turnlog.turn", "turnlog.end",
	}
	if d := cmp.Diff(wantKinds, kinds(entries(t, filepath.Join(out, "hello.jsonl")))); d != "" {
		t.Errorf("transcript (-want +got):\n%s", d)
	}
	ended, err := results.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	if r := ended["hello"]; r.Status != policy.OK || r.Digest == "" || r.Transcript != "hello.jsonl" || r.Turns != 2 {
		t.Errorf("result %+v", r)
	}
}

func TestExistingTranscriptStopsTheBatch(t *testing.T) {
	out := t.TempDir()
	path := filepath.Join(out, "hello.jsonl")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, c, err := play(t, t.Context(), Options{Files: load(t, "hello.yaml"), Out: out})
	var plan *PlanError
	if !errors.As(err, &plan) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" || c.buf.Len() > 0 {
		t.Errorf("file %q, events %q", b, c.buf.String())
	}
}

func TestTwoPromptsAreTwoRuns(t *testing.T) {
	tasks := parse(t, "two", `
version: 1
model: { provider: scripted, responses: [{ text: one }, { text: two }] }
system: Be brief.
prompts: [first, second]
`)
	out := filepath.Join(t.TempDir(), "out")
	sum, c, err := play(t, t.Context(), Options{Files: tasks, Out: out})
	if err != nil || sum.ExitCode != 0 {
		t.Fatalf("summary %+v, %v", sum, err)
	}
	runs := map[string]int{}
	for _, r := range c.records(t) {
		runs[r.Run]++
	}
	if runs["r1"] == 0 || runs["r2"] == 0 {
		t.Errorf("runs %v", runs)
	}
	got := strings.Join(kinds(entries(t, filepath.Join(out, "two.jsonl"))), " ")
	if n := strings.Count(got, "turnlog.run"); n != 2 {
		t.Errorf("%d runs in %s", n, got)
	}
	if n := strings.Count(got, "turnlog.end"); n != 2 || !strings.HasSuffix(got, "turnlog.end") {
		t.Errorf("%d ends in %s", n, got)
	}
	if n := strings.Count(got, "system"); n != 1 {
		t.Errorf("%d system messages in %s", n, got)
	}
}

func TestStatuses(t *testing.T) {
	for _, test := range []struct {
		name, model string
		status      policy.Status
		code        int
	}{
		{"ok", `[{ text: fine }]`, policy.OK, 0},
		{"exhausted", `[]`, policy.Error, 3},
		{"truncated", `[{ text: fi, stopReason: length }]`, policy.Limit, 4},
		{"empty", `[{ text: "" }]`, policy.NoOutput, 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			tasks := parse(t, test.name, "version: 1\nprompt: go\nmodel: { provider: scripted, responses: "+test.model+" }\n")
			sum, c, err := play(t, t.Context(), Options{Files: tasks})
			if err != nil || sum.ExitCode != test.code || sum.Results[0].Status != test.status {
				t.Errorf("summary %+v, %v", sum, err)
			}
			rs := c.records(t)
			if last := rs[len(rs)-1]; last.Type != "batch_end" || last.Raw["exitCode"] != float64(test.code) {
				t.Errorf("last event %v", last.Raw)
			}
		})
	}
}

// closedAfter is a stdout whose reader goes away after n writes.
type closedAfter struct{ n int }

func (c *closedAfter) Write(p []byte) (int, error) {
	if c.n--; c.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestFault68ClosedStdoutKeepsTheTranscript(t *testing.T) {
	for n := range 24 {
		out := filepath.Join(t.TempDir(), "out")
		sum, _, err := play(t, t.Context(), Options{
			Files: load(t, "hello.yaml"), Out: out, Sink: &NDJSON{W: &closedAfter{n: n}},
		})
		if !errors.Is(err, ErrClosed) || sum.ExitCode != 3 {
			t.Errorf("closed after %d: exit %d, %v", n, sum.ExitCode, err)
		}
		if sum.Results[0].Status == policy.Skipped {
			continue
		}
		ks := kinds(entries(t, filepath.Join(out, "hello.jsonl")))
		if last := ks[len(ks)-1]; last != "turnlog.end" && len(ks) > 1 {
			t.Errorf("closed after %d: the transcript ends with %s", n, last)
		}
	}
}

func TestSignalAbortsAndSkips(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	var tasks []*task.File
	for i := range 5 {
		tasks = append(tasks, parse(t, fmt.Sprint("t", i), "version: 1\nprompt: go\nmodel: { provider: scripted, responses: [{ text: fine }] }\n")...)
	}
	c := &capture{}
	sink := sinkFunc(func(e *Event) error {
		if e.Type == "message_start" && e.Task == "t1" {
			cancel(fakeSignal(143))
		}
		return (&NDJSON{W: c}).Event(e)
	})
	sum, _, err := play(t, ctx, Options{Files: tasks, Sink: sink})
	if !errors.Is(err, fakeSignal(143)) || sum.ExitCode != 143 {
		t.Errorf("exit %d, %v", sum.ExitCode, err)
	}
	want := map[string]int{"ok": 1, "aborted": 1, "skipped": 3}
	if d := cmp.Diff(want, sum.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	if code := sum.Results[1].ExitCode; code != 143 {
		t.Errorf("exit code of the aborted task: %d", code)
	}
	rs := c.records(t)
	if last := rs[len(rs)-1]; last.Type != "batch_end" {
		t.Errorf("last event %s", last.Type)
	}
}

type sinkFunc func(*Event) error

func (f sinkFunc) Event(e *Event) error { return f(e) }

type fakeSignal int

func (s fakeSignal) Error() string { return fmt.Sprint("signal ", int(s)) }
func (s fakeSignal) ExitCode() int { return int(s) }
