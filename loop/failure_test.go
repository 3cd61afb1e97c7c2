package loop_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

var errSeam = errors.New("seam failed")

// TestFailingSeams: whichever seam fails or panics, the run ends with a failed
// turn and the outcome says why.
func TestFailingSeams(t *testing.T) {
	fail := func(panics bool) error {
		if panics {
			panic(errSeam)
		}
		return errSeam
	}
	seams := map[string]func(c *loop.Config, panics bool){
		"Steering": func(c *loop.Config, p bool) {
			c.Steering = func(context.Context) ([]transcript.Message, error) { return nil, fail(p) }
		},
		"FollowUp": func(c *loop.Config, p bool) {
			c.FollowUp = func(context.Context) ([]transcript.Message, error) { return nil, fail(p) }
		},
		"FinishTurn": func(c *loop.Config, p bool) {
			c.FinishTurn = func(context.Context, loop.Turn) (loop.Decision, error) { return loop.Default, fail(p) }
		},
		"PrepareNextTurn": func(c *loop.Config, p bool) {
			c.PrepareNextTurn = func(context.Context, loop.Turn) (loop.TurnUpdate, error) { return loop.TurnUpdate{}, fail(p) }
		},
		"PrepareRequest": func(c *loop.Config, p bool) {
			c.PrepareRequest = func(context.Context, loop.RequestInfo) (loop.RequestUpdate, error) {
				return loop.RequestUpdate{}, fail(p)
			}
		},
		"TransformContext": func(c *loop.Config, p bool) {
			c.TransformContext = func(context.Context, []transcript.Message) ([]transcript.Message, error) { return nil, fail(p) }
		},
		"Convert": func(c *loop.Config, p bool) {
			c.Convert = func([]transcript.Message) ([]transcript.Message, error) { return nil, fail(p) }
		},
		"two tools of one name": func(c *loop.Config, _ bool) {
			c.PrepareNextTurn = func(context.Context, loop.Turn) (loop.TurnUpdate, error) {
				return loop.TurnUpdate{Tools: []loop.Tool{echoTool(), echoTool()}}, nil
			}
		},
	}
	for name, install := range seams {
		for _, panics := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				var log eventLog
				c := loop.Config{
					Model: scriptOf(t, `{"calls":[{"name":"echo","arguments":{"text":"a"}}]}`, `{"text":"done"}`),
					Tools: []loop.Tool{echoTool()}, Emit: log.emit,
				}
				install(&c, panics)
				out, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go"))
				if err != nil {
					t.Fatalf("Run: %v; a seam's error is no error of Run", err)
				}
				if out.Err == nil || out.Reason != transcript.StopError {
					t.Errorf("outcome %v, %s, want a failed turn", out.Err, out.Reason)
				}
				if name != "two tools of one name" && !errors.Is(out.Err, errSeam) {
					t.Errorf("outcome %v does not wrap the seam's error", out.Err)
				}
				log.checkEnd(t)
			})
		}
	}
}

// eventLog keeps the types of events.
type eventLog []string

func (l *eventLog) emit(e loop.Event) error {
	*l = append(*l, string(e.Type))
	return nil
}

func (l eventLog) count(typ loop.EventType) int {
	n := 0
	for _, have := range l {
		if have == string(typ) {
			n++
		}
	}
	return n
}

// checkEnd checks that what began has ended, and how.
func (l eventLog) checkEnd(t *testing.T) {
	t.Helper()
	if a, b := l.count(loop.TurnStart), l.count(loop.TurnEnd); a != b {
		t.Errorf("%d turn_start, %d turn_end", a, b)
	}
	if a, b := l.count(loop.MessageStart), l.count(loop.MessageEnd); a != b {
		t.Errorf("%d message_start, %d message_end", a, b)
	}
	want := []string{"message_start", "message_end", "turn_end", "agent_end"}
	if got := l[max(0, len(l)-4):]; !slices.Equal(got, want) {
		t.Errorf("ends with %v, want %v", got, want)
	}
}

// failingModel streams some deltas and fails.
type failingModel struct {
	deltas []loop.Delta
	err    error // nil ends the stream without a final message
	panics bool
}

func (m failingModel) Stream(context.Context, replay.Request) iter.Seq2[loop.Delta, error] {
	return func(yield func(loop.Delta, error) bool) {
		for _, d := range m.deltas {
			if !yield(d, nil) {
				return
			}
		}
		if m.panics {
			panic("nil map")
		}
		if m.err != nil {
			yield(loop.Delta{}, m.err)
		}
	}
}

func TestFailingModels(t *testing.T) {
	half := []loop.Delta{{Kind: loop.Start}, {Kind: loop.TextStart}, {Kind: loop.TextDelta, Text: "half a "}, {Kind: loop.TextDelta, Text: "sentence"}}
	tests := []struct {
		name  string
		model failingModel
		text  string // of the message
		err   string
	}{
		{"not asked", failingModel{err: errors.New("no route")}, "", "no route"},
		{"panics at once", failingModel{panics: true}, "", "the model panicked: nil map"},
		{"breaks off", failingModel{deltas: half, err: errors.New("connection reset")}, "half a sentence", "connection reset"},
		{"panics half way", failingModel{deltas: half, panics: true}, "half a sentence", "the model panicked: nil map"},
		{"ends without its end", failingModel{deltas: half}, "half a sentence", "the model's stream ended without a final message"},
		{"says nothing", failingModel{}, "", "the model's stream ended without a final message"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log eventLog
			out, err := loop.Run(t.Context(), loop.Config{Model: test.model, Emit: log.emit}, new(replay.State), transcript.UserText("go"))
			if err != nil {
				t.Fatal(err)
			}
			last := &out.New[len(out.New)-1]
			if last.Text() != test.text || last.ErrorMessage != test.err || last.StopReason != transcript.StopError {
				t.Errorf("message %q, %s: %q; want %q, error: %q", last.Text(), last.StopReason, last.ErrorMessage, test.text, test.err)
			}
			if out.Err == nil || out.Err.Error() != test.err {
				t.Errorf("outcome %v, want %s", out.Err, test.err)
			}
			if a, b := log.count(loop.MessageStart), log.count(loop.MessageEnd); a != b {
				t.Errorf("%d message_start, %d message_end", a, b)
			}
			if tail := log[len(log)-2:]; !slices.Equal(tail, []string{"turn_end", "agent_end"}) {
				t.Errorf("ends with %v", tail)
			}
		})
	}
}

// TestRetries: a retry shows as events and as another attempt in the
// transcript; nothing of the answer before it stays.
func TestRetries(t *testing.T) {
	final := &transcript.Message{Role: transcript.Assistant, Content: []transcript.Block{transcript.TextBlock("whole")}, StopReason: transcript.StopEnd}
	m := failingModel{deltas: []loop.Delta{
		{Kind: loop.Start},
		{Kind: loop.TextStart},
		{Kind: loop.TextDelta, Text: "ha"},
		{Kind: loop.Retry, Text: "503", Retry: &loop.RetryInfo{Attempt: 1, MaxAttempts: 3, DelayMs: 20}},
		{Kind: loop.Start},
		{Kind: loop.TextStart},
		{Kind: loop.TextDelta, Text: "whole"},
		{Kind: loop.TextEnd, Text: "whole"},
		{Kind: loop.Done, Final: final},
	}}
	var log eventLog
	var partial string
	var attempts []string
	c := loop.Config{
		Model: m,
		Emit: func(e loop.Event) error {
			if e.Type == loop.MessageUpdate {
				partial = e.Message.Text()
			}
			if e.Retry != nil {
				attempts = append(attempts, string(loop.AppendEvent(nil, &e)))
			}
			return log.emit(e)
		},
		Append: func(e *transcript.Entry) error {
			if e.Custom != nil && e.Custom.CustomType == transcript.CustomRequest {
				attempts = append(attempts, string(e.Custom.Data[:strings.Index(string(e.Custom.Data), `,"cause"`)]))
			}
			return nil
		},
	}
	out, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go"))
	if err != nil || out.Err != nil {
		t.Fatal(err, out.Err)
	}
	want := []string{
		`{"run":"","n":1,"attempt":1`,
		`{"run":"","n":1,"attempt":2`,
		`{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":20,"errorMessage":"503"}`,
		`{"type":"auto_retry_end","success":true,"attempt":1}`,
	}
	if diff := cmp.Diff(want, attempts); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if partial != "whole" || log.count(loop.MessageStart) != 2 || log.count(loop.MessageEnd) != 2 {
		t.Errorf("partial %q, events %v", partial, log)
	}
}

// TestFullDisk: once an append failed, no tool starts and no request goes out;
// what ran already keeps its result, and Run returns the error.
func TestFullDisk(t *testing.T) {
	full := errors.New("no space left on device")
	for failAt := 1; failAt <= 14; failAt++ {
		ran, requests, written := 0, 0, 0
		tool := echoTool()
		run := tool.Run
		tool.Run = func(ctx context.Context, call transcript.Call, progress func(loop.Result)) (loop.Result, error) {
			if written >= failAt {
				t.Errorf("append %d failed, yet a tool ran", failAt)
			}
			ran++
			return run(ctx, call, progress)
		}
		model := scriptOf(t, `{"calls":[{"name":"echo","arguments":{"text":"a"}},{"name":"echo","arguments":{"text":"b"}}]}`, `{"text":"done"}`)
		var log eventLog
		c := loop.Config{
			Model: requestSpy{model, func(replay.Request) {
				if written >= failAt {
					t.Errorf("append %d failed, yet a request went out", failAt)
				}
				requests++
			}},
			Tools: []loop.Tool{tool}, Execution: loop.Sequential, Emit: log.emit,
			Append: func(*transcript.Entry) error {
				written++
				if written > failAt {
					t.Errorf("append %d failed, yet another was tried", failAt)
				}
				if written == failAt {
					return full
				}
				return nil
			},
		}
		_, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go"))
		if written >= failAt != errors.Is(err, full) {
			t.Errorf("append %d failed, Run returned %v", failAt, err)
		}
		if tail := log[len(log)-2:]; !slices.Equal(tail, []string{"turn_end", "agent_end"}) {
			t.Errorf("append %d failed: events end with %v", failAt, tail)
		}
	}
}

// TestFullDiskShowsNoMore: whichever append fails, readers saw only what was
// written before, then the failure, and everything that began has an end.
func TestFullDiskShowsNoMore(t *testing.T) {
	full := errors.New("no space left on device")
	for _, execution := range []loop.Execution{loop.Sequential, loop.Parallel} {
		for failAt, failed := 1, true; failed; failAt++ {
			written, disk := 0, map[string]bool{}
			var shown []*transcript.Message
			var log eventLog
			open := map[string]bool{}
			model := scriptOf(t, `{"calls":[{"name":"echo","arguments":{"text":"a"}},{"name":"echo","arguments":{"text":"b"}}]}`, `{"calls":[{"name":"echo","arguments":{"text":"c"}}]}`, `{"text":"done"}`)
			c := loop.Config{
				Model: model, Tools: []loop.Tool{echoTool()}, Execution: execution,
				Append: func(e *transcript.Entry) error {
					if written++; written == failAt {
						return full
					}
					disk[e.ID] = true
					return nil
				},
				Emit: func(e loop.Event) error {
					switch e.Type {
					case loop.MessageEnd:
						shown = append(shown, e.Message)
						if written < failAt && (e.Entry == nil || !disk[e.Entry.ID]) {
							t.Errorf("append %d: the message %q was shown before it was written", failAt, e.Message.Text())
						}
					case loop.ToolExecutionStart:
						open[e.Call.ID] = true
					case loop.ToolExecutionEnd:
						delete(open, e.Call.ID)
						if written >= failAt && !e.IsError {
							t.Errorf("append %d failed, yet a result was shown", failAt)
						}
					}
					return log.emit(e)
				},
			}
			_, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go"))
			if failed = errors.Is(err, full); !failed {
				break
			}
			if len(open) > 0 {
				t.Errorf("append %d failed: calls %v have no end", failAt, open)
			}
			for _, pair := range [][2]loop.EventType{{loop.MessageStart, loop.MessageEnd}, {loop.TurnStart, loop.TurnEnd}, {loop.AgentStart, loop.AgentEnd}} {
				if a, b := log.count(pair[0]), log.count(pair[1]); a != b {
					t.Errorf("append %d failed: %d %s, %d %s", failAt, a, pair[0], b, pair[1])
				}
			}
			last := shown[len(shown)-1]
			if last.StopReason != transcript.StopError || !strings.Contains(last.ErrorMessage, full.Error()) {
				t.Errorf("append %d failed: the last message is %s %q", failAt, last.StopReason, last.ErrorMessage)
			}
			for _, m := range shown[:len(shown)-1] {
				if m.Failed() {
					t.Errorf("append %d failed: a message that was not written was shown: %q", failAt, m.ErrorMessage)
				}
			}
			if tail := log[len(log)-3:]; !slices.Equal(tail, []string{"message_end", "turn_end", "agent_end"}) {
				t.Errorf("append %d failed: events end with %v", failAt, tail)
			}
		}
	}
}

// TestGoneReader: a reader that fails ends the run, and the transcript has
// every result of what ran.
func TestGoneReader(t *testing.T) {
	gone := errors.New("broken pipe")
	for failAt := 1; failAt <= 20; failAt++ {
		var s replay.State
		shown := 0
		c := loop.Config{
			Model:  scriptOf(t, `{"calls":[{"name":"echo","arguments":{"text":"a"}},{"name":"echo","arguments":{"text":"b"}}]}`, `{"text":"done"}`),
			Tools:  []loop.Tool{echoTool()},
			Append: func(*transcript.Entry) error { return nil },
			Emit: func(loop.Event) error {
				shown++
				if shown == failAt {
					return gone
				}
				return nil
			},
		}
		out, err := loop.Run(t.Context(), c, &s, transcript.UserText("go"))
		if !errors.Is(err, gone) || shown != failAt {
			t.Fatalf("event %d failed: error %v after %d events", failAt, err, shown)
		}
		if open := s.OpenCalls(); len(open) > 0 {
			t.Errorf("event %d failed: calls %v have no result", failAt, open)
		}
		if out.Reason != transcript.StopAborted && failAt < 20 {
			t.Errorf("event %d failed: the run ended with %s", failAt, out.Reason)
		}
	}
}
