package loop_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// rendered gives events as records; a partial message that went on changing
// after its event would show.
func rendered(events []loop.Event) []string {
	out := make([]string, len(events))
	for i := range events {
		out[i] = string(loop.AppendEvent(nil, &events[i]))
		if events[i].Type == loop.MessageUpdate {
			out[i] += " " + events[i].Message.Text()
		}
	}
	return out
}

func TestStreamYieldsWhatEmitSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pushed []string
		c := loop.Config{
			Model: scriptOf(t, `{"content":[{"type":"text","text":"one two three","chunks":["one ","two ","three"]},{"type":"toolCall","id":"a","name":"echo","arguments":{"text":"x"}}]}`, `{"text":"done"}`),
			Tools: []loop.Tool{echoTool()},
			Emit: func(e loop.Event) error {
				pushed = append(pushed, rendered([]loop.Event{e})...)
				return nil
			},
		}
		st := loop.StreamRun(t.Context(), c, new(replay.State), transcript.UserText("go"))
		synctest.Wait() // nobody reads, and the run ends nevertheless
		if out, err := st.Result(); err != nil || out.Turns != 2 {
			t.Fatal(out, err)
		}
		var pulled []loop.Event
		for e := range st.Events() {
			pulled = append(pulled, e)
			if len(pulled) == 3 {
				break
			}
		}
		for e := range st.Events() { // goes on
			pulled = append(pulled, e)
		}
		if diff := cmp.Diff(pushed, rendered(pulled)); diff != "" {
			t.Errorf("events (-emitted +pulled):\n%s", diff)
		}
		for e := range st.Events() {
			t.Errorf("another event after the end: %s", e.Type)
		}
	})
}

// TestStreamEndsWithFailingRuns: the iterator and the result come to an end
// when the run fails, is refused, or is aborted.
func TestStreamEndsWithFailingRuns(t *testing.T) {
	refused := func(ctx context.Context) *loop.Stream {
		return loop.StreamResume(ctx, loop.Config{}, new(replay.State))
	}
	gone := errors.New("gone")
	sink := func(ctx context.Context) *loop.Stream {
		c := loop.Config{Model: scriptOf(t, `{"text":"hi"}`), Emit: func(e loop.Event) error {
			if e.Type == loop.TurnStart {
				return gone
			}
			return nil
		}}
		return loop.StreamRun(ctx, c, new(replay.State), transcript.UserText("go"))
	}
	tests := []struct {
		name   string
		start  func(context.Context) *loop.Stream
		events int
		check  func(loop.Outcome, error) bool
	}{
		{"model", func(ctx context.Context) *loop.Stream {
			return loop.StreamRun(ctx, loop.Config{Model: failingModel{panics: true}}, new(replay.State), transcript.UserText("go"))
		}, 8, func(o loop.Outcome, err error) bool { return err == nil && o.Err != nil }},
		{"no model at all", func(ctx context.Context) *loop.Stream {
			return loop.StreamRun(ctx, loop.Config{}, new(replay.State), transcript.UserText("go"))
		}, 8, func(o loop.Outcome, err error) bool { return err == nil && o.Err != nil }},
		{"refused", refused, 0, func(_ loop.Outcome, err error) bool { return err != nil }},
		{"sink", sink, 1, func(_ loop.Outcome, err error) bool { return errors.Is(err, gone) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := test.start(t.Context())
				n := 0
				for range st.Events() {
					n++
				}
				if n != test.events {
					t.Errorf("%d events, want %d", n, test.events)
				}
				if out, err := st.Result(); !test.check(out, err) {
					t.Errorf("result %+v, %v", out, err)
				}
			})
		})
	}
}
