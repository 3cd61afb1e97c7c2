package progress_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/progress"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/replay/transcript"
)

var update = flag.Bool("update", false, "rewrite golden files")

// terminal understands what a block writes, and nothing else: text, line ends,
// going up, going to the first column, clearing what is below.
type terminal struct {
	lines    []string
	row      int
	unknown  []string
	width    int
	overflow bool
}

func (t *terminal) Write(p []byte) (int, error) {
	s := string(p)
	for s != "" {
		var r rune
		switch {
		case strings.HasPrefix(s, "\x1b["):
			end := strings.IndexAny(s, "AJKm")
			t.escape(s[2:end], s[end])
			s = s[end+1:]
			continue
		case s[0] == '\n':
			t.row++
		case s[0] == '\r': // every line is written from its start
		default:
			for len(t.lines) <= t.row {
				t.lines = append(t.lines, "")
			}
			r = []rune(s)[0]
			t.lines[t.row] += string(r)
			t.overflow = t.overflow || columns(t.lines[t.row]) > t.width
			s = s[len(string(r)):]
			continue
		}
		s = s[1:]
	}
	return len(p), nil
}

// columns counts what the tests use: ideographs take two.
func columns(s string) (n int) {
	for _, r := range s {
		if n++; r >= 0x4e00 && r <= 0x9fff {
			n++
		}
	}
	return n
}

func (t *terminal) escape(arg string, kind byte) {
	switch n, _ := strconv.Atoi(arg); kind {
	case 'A':
		t.row = max(t.row-n, 0)
	case 'J':
		t.lines = t.lines[:min(t.row, len(t.lines))]
	default:
		t.unknown = append(t.unknown, arg+string(kind))
	}
}

// step is an event and the time that has passed before it.
type step struct {
	after time.Duration
	event batch.Event
	tick  bool
}

func agent(task string, kind loop.EventType, fill func(*loop.Event)) batch.Event {
	e := loop.Event{Type: kind}
	if fill != nil {
		fill(&e)
	}
	return batch.Event{Type: string(kind), Task: task, Loop: &e}
}

func call(id, name string) func(*loop.Event) {
	return func(e *loop.Event) { e.Call = &transcript.Call{ID: id, Name: name} }
}

func answer(tokens int64, usd float64) func(*loop.Event) {
	return func(e *loop.Event) {
		e.Message = &transcript.Message{Role: transcript.Assistant, Usage: &transcript.Usage{TotalTokens: tokens, Cost: transcript.Cost{Total: usd}}}
	}
}

func steps() []step {
	type body = map[string]any
	const second = time.Second
	tasks := []string{"audit.\x1b[31mred", "文書.検査", "last"}
	start := func(task string) batch.Event { return batch.Event{Type: batch.TaskStart, Task: task} }
	end := func(task string, s policy.Status) batch.Event {
		return batch.Event{Type: batch.TaskEnd, Task: task, Body: results.Result{
			ID: task, Status: s, ExitCode: s.ExitCode(), Usage: results.Usage{TotalTokens: 12_000}, CostUSD: 0.02, DurationMs: 65_000,
		}}
	}
	return []step{
		{event: batch.Event{Type: batch.BatchStart, Body: body{"tasks": append([]string{"kept"}, tasks...), "kept": []string{"kept"}}}},
		{after: second, event: start(tasks[0])},
		{after: second, event: agent(tasks[0], loop.TurnStart, nil)},
		{after: second, event: start(tasks[1])},
		{after: second, event: agent(tasks[0], loop.MessageEnd, answer(900, 0))},
		{after: second, event: agent(tasks[0], loop.ToolExecutionStart, call("1", "bash"))},
		{after: time.Millisecond, event: agent(tasks[0], loop.ToolExecutionStart, call("2", "a\nb"))},
		{after: second, tick: true},
		{after: second, event: agent(tasks[0], loop.ToolExecutionEnd, call("2", "a\nb"))},
		{after: second, event: agent(tasks[1], loop.MessageUpdate, nil)},
		{after: second, event: agent(tasks[1], loop.TurnStart, nil)},
		{after: second, event: agent(tasks[1], loop.AutoRetryStart, nil)},
		{after: second, event: agent(tasks[1], loop.AutoRetryEnd, nil)},
		{after: second, event: agent(tasks[1], loop.MessageEnd, answer(11_500, 0.0151))},
		{after: 60 * second, event: end(tasks[0], policy.OK)},
		{after: second, event: start(tasks[2])},
		{after: -time.Hour, event: end(tasks[1], policy.Limit)},
		{after: second, event: end(tasks[2], policy.OK)},
		{after: second, event: batch.Event{Type: batch.BatchEnd, Body: batch.Summary{}}},
	}
}

// play drives a sink and says what is to be seen after each step.
func play(t *testing.T, sink batch.Sink, tick func(), clock *time.Time, seen func() string) string {
	t.Helper()
	var all strings.Builder
	for i, s := range steps() {
		*clock = clock.Add(s.after)
		what := "tick"
		if s.tick {
			tick()
		} else {
			what = s.event.Type
			if err := sink.Event(&s.event); err != nil {
				t.Fatal(err)
			}
		}
		fmt.Fprintf(&all, "== %d %s\n%s", i, what, seen())
	}
	return all.String()
}

func TestBlock(t *testing.T) {
	for _, width := range []int{80, 24, 1} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			clock := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
			screen := &terminal{width: width}
			b := &progress.Block{W: screen, Now: func() time.Time { return clock }, Width: func() int { return width }}
			frames := play(t, b, b.Tick, &clock, func() string {
				return strings.Join(screen.lines, "\n") + "\n"
			})
			golden(t, fmt.Sprintf("block-%d.golden", width), frames)
			if screen.overflow {
				t.Error("a line is wider than the terminal")
			}
			b.Close()
			b.Tick()
			if len(screen.lines) != 0 || screen.row != 0 {
				t.Errorf("left on the terminal: %q, row %d", screen.lines, screen.row)
			}
			if len(screen.unknown) > 0 {
				t.Errorf("other escape sequences: %q", screen.unknown)
			}
		})
	}
}

// Streams have thousands of deltas; the terminal is not drawn for each event
// of the same moment.
func TestBlockIsNotDrawnTooOften(t *testing.T) {
	writes := 0
	clock := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
	b := &progress.Block{W: writerFunc(func(p []byte) (int, error) { writes++; return len(p), nil }), Now: func() time.Time { return clock }}
	for range 1000 {
		e := agent("a", loop.TurnStart, nil)
		if err := errors.Join(b.Event(&batch.Event{Type: batch.TaskStart, Task: "a"}), b.Event(&e)); err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Millisecond)
	}
	if writes > 11 {
		t.Errorf("drawn %d times within a second", writes)
	}
}

// Many tasks do not fill the terminal.
func TestBlockIsBounded(t *testing.T) {
	screen := &terminal{width: 80}
	clock := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
	b := &progress.Block{W: screen, Now: func() time.Time { return clock }}
	for i := range 64 {
		clock = clock.Add(time.Second)
		if err := b.Event(&batch.Event{Type: batch.TaskStart, Task: fmt.Sprint("t", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(screen.lines); n != 10 || screen.lines[n-1] != "  and 56 more" {
		t.Errorf("%d lines, the last one is %q", n, screen.lines[n-1])
	}
}

// A terminal that is gone does not end a run.
func TestClosedTerminal(t *testing.T) {
	gone := writerFunc(func([]byte) (int, error) { return 0, os.ErrClosed })
	for _, sink := range []batch.Sink{&progress.Block{W: gone}, &progress.Lines{W: gone}} {
		for _, s := range steps() {
			if err := sink.Event(&s.event); err != nil {
				t.Errorf("%T: %v", sink, err)
			}
		}
	}
}

func TestLines(t *testing.T) {
	clock := time.Date(2030, 1, 2, 3, 0, 0, 0, time.UTC)
	var out strings.Builder
	l := &progress.Lines{W: &out, Now: func() time.Time { return clock }}
	got := play(t, l, func() {}, &clock, func() string {
		defer out.Reset()
		return out.String()
	})
	golden(t, "lines.golden", got)
	if strings.ContainsAny(got, "\x1b\r") {
		t.Error("control characters in plain lines")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

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
