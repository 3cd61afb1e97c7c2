package render_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/mask"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/render"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/replay/transcript"
)

var update = flag.Bool("update", false, "rewrite golden files")

// hostile is out to break a terminal, a line and a prefix.
const hostile = "\x1b[2J\x1b]8;;http://evil\x07go\r\u202eexe.\xff\nturnlog: error: forged"

const key = "sk-local-0123456789"

// events are those of a batch with everything in it that is shown.
func events(tasks ...string) []batch.Event {
	type body = map[string]any
	all := []batch.Event{{Type: batch.BatchStart, Body: body{"tasks": tasks, "kept": []string{"old"}}}}
	for _, task := range tasks {
		agent := func(e loop.Event) {
			all = append(all, batch.Event{Type: string(e.Type), Task: task, Loop: &e})
		}
		said := func(role transcript.Role, text string, calls ...string) {
			m := &transcript.Message{Role: role, Content: []transcript.Block{transcript.TextBlock(text)}, StopReason: "stop"}
			for _, c := range calls {
				m.Content = append(m.Content, transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: c, Name: c}})
			}
			agent(loop.Event{Type: loop.MessageEnd, Message: m})
		}
		ran := func(name, text string, failed bool, ms int64) {
			agent(loop.Event{
				Type: loop.ToolExecutionEnd, Call: &transcript.Call{ID: name, Name: name, Arguments: []byte(`{"command":"echo ` + key + ` \u001b[2J and much more than there is room for"}`)}, IsError: failed, DurationMs: ms,
				Result: &loop.Result{Content: []transcript.Block{transcript.TextBlock(text)}},
			})
		}
		all = append(all, batch.Event{Type: batch.TaskStart, Task: task, Body: body{"file": "tasks/" + task + ".yaml", "attempt": 2, "resumed": true}})
		all = append(all, batch.Event{Type: batch.TaskNote, Task: task, Body: body{"message": "server docs is not there"}})
		said(transcript.User, "Look at everything.\nAnd at "+hostile)
		agent(loop.Event{Type: loop.TurnStart})
		agent(loop.Event{Type: loop.AutoRetryStart, Retry: &loop.RetryEvent{RetryInfo: loop.RetryInfo{Attempt: 1, DelayMs: 1500}, Error: "429: slow down " + key}})
		said(transcript.Assistant, strings.Repeat("long ", 40), "bash", hostile)
		ran("bash", "the key is "+key+"\nand more", false, 12_345)
		ran(hostile, hostile, true, -1)
		agent(loop.Event{Type: loop.TurnStart})
		agent(loop.Event{Type: loop.MessageEnd, Message: &transcript.Message{Role: transcript.Assistant, StopReason: transcript.StopError, ErrorMessage: hostile}})
		all = append(all, batch.Event{Type: batch.Response, Body: body{"command": "steer", "error": "message is empty"}})
		all = append(all, batch.Event{Type: batch.TaskEnd, Task: task, Body: results.Result{
			ID: task, Status: policy.Failed, Reason: hostile, File: "tasks/" + task + ".yaml", Turns: 2, ToolCalls: 1, CostUSD: 0.0123,
			Usage: results.Usage{TotalTokens: 1234}, DurationMs: 2500, Answer: "# Answer\n\n" + hostile + "\n  indented " + key + "\n",
			Assertions: []results.Assertion{
				{Name: "status", OK: true},
				{Name: "text", Line: 7, Message: "the last answer is " + hostile},
				{Name: "usage turns", Severity: "warning", Message: "turns is 2"},
			},
		}})
	}
	return append(all, batch.Event{Type: batch.BatchEnd, Body: batch.Summary{Tasks: len(tasks), Counts: map[string]int{"failed": len(tasks)}, DurationMs: 61_000}})
}

func show(t *testing.T, o render.Options, events []batch.Event) string {
	t.Helper()
	var out strings.Builder
	sink, err := render.New("text", &out, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		if err := sink.Event(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func TestText(t *testing.T) {
	mask := mask.New(map[string]string{"KEY": key}, nil, false)
	for _, c := range []struct {
		name string
		o    render.Options
		in   []batch.Event
	}{
		{"one", render.Options{Mask: mask}, events("audit")},
		{"two", render.Options{Mask: mask}, events("audit", "docs")},
		{"colour", render.Options{Mask: mask, Color: true}, events("audit")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := show(t, c.o, c.in)
			golden(t, c.name+".golden", got)
			if strings.Contains(got, key) {
				t.Error("the key is shown")
			}
		})
	}
}

// The only control characters are line ends, and colours if asked for.
func TestTextIsInert(t *testing.T) {
	for i, r := range show(t, render.Options{}, events("audit", hostile)) {
		if r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e) {
			t.Errorf("%q at %d", r, i)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

func TestUnknownFormat(t *testing.T) {
	_, err := render.New("xml", nil, render.Options{})
	if want := `unknown format "xml" (known: ndjson, text)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A reader that is gone is an error of every format, which ends the run.
func TestClosed(t *testing.T) {
	for _, format := range render.Formats() {
		sink, err := render.New(format, closed{}, render.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var failed error
		for _, e := range events("a") {
			failed = errors.Join(failed, sink.Event(&e))
		}
		if !errors.Is(failed, batch.ErrClosed) {
			t.Errorf("%s: got %v", format, failed)
		}
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }
