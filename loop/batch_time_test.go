package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// scriptOf parses responses written as JSON.
func scriptOf(t testing.TB, responses ...string) *scripted.Model {
	t.Helper()
	raw := make([]json.RawMessage, len(responses))
	for i, r := range responses {
		raw[i] = json.RawMessage(r)
	}
	parsed, err := scripted.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New(parsed)
}

// sleeper is a tool that takes as many seconds as its argument says.
func sleeper(name string, run func(ctx context.Context, d time.Duration) error) loop.Tool {
	return loop.Tool{
		Tool: transcript.Tool{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object","properties":{"s":{"type":"integer"}}}`)},
		Run: func(ctx context.Context, call transcript.Call, _ func(loop.Result)) (loop.Result, error) {
			var args struct{ S int }
			if err := json.Unmarshal(call.Arguments, &args); err != nil {
				return loop.Result{}, err
			}
			if err := run(ctx, time.Duration(args.S)*time.Second); err != nil {
				return loop.Result{}, err
			}
			return loop.Result{Content: []transcript.Block{transcript.TextBlock("slept")}}, nil
		},
	}
}

func sleepOrAbort(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const threeSleeps = `{"calls":[{"id":"a","name":"sleep","arguments":{"s":4}},{"id":"b","name":"sleep","arguments":{"s":1}},{"id":"c","name":"sleep","arguments":{"s":2}}]}`

func TestBatchTimes(t *testing.T) {
	tests := []struct {
		name string
		c    loop.Config
		took time.Duration
		ends []string
	}{
		{"parallel", loop.Config{}, 4 * time.Second, []string{"b", "c", "a"}},
		{"two at once", loop.Config{MaxParallel: 2}, 4 * time.Second, []string{"b", "c", "a"}},
		{"one at once", loop.Config{MaxParallel: 1}, 7 * time.Second, []string{"a", "b", "c"}},
		{"sequential", loop.Config{Execution: loop.Sequential}, 7 * time.Second, []string{"a", "b", "c"}},
		{"ends in source order in the older mode", loop.Config{SteeringMode: loop.SkipRemaining}, 4 * time.Second, []string{"a", "b", "c"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := test.c
				c.Model = scriptOf(t, threeSleeps, `{"text":"done"}`)
				c.Tools = []loop.Tool{sleeper("sleep", sleepOrAbort)}
				var ends []string
				var ms []int64
				c.Emit = func(e loop.Event) error {
					if e.Type == loop.ToolExecutionEnd {
						ends = append(ends, e.Call.ID)
						ms = append(ms, e.DurationMs)
					}
					return nil
				}
				began := time.Now()
				out, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go"))
				if err != nil || out.Reason != transcript.StopEnd {
					t.Fatalf("%v, stop reason %s", err, out.Reason)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("took %v, want %v", took, test.took)
				}
				if diff := cmp.Diff(test.ends, ends); diff != "" {
					t.Errorf("order of the ends (-want +got):\n%s", diff)
				}
				for i, id := range ends {
					want := map[string]int64{"a": 4000, "b": 1000, "c": 2000}[id]
					if ms[i] != want {
						t.Errorf("%s took %d ms, want %d", id, ms[i], want)
					}
				}
			})
		})
	}
}

// TestAbortDuringBatch: an abort waits for the tools, keeps what they gave,
// and leaves no goroutine behind.
func TestAbortDuringBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		deaf := func(_ context.Context, d time.Duration) error { time.Sleep(d); return nil }
		c := loop.Config{
			Model: scriptOf(t, `{"calls":[{"id":"a","name":"deaf","arguments":{"s":3}},{"id":"b","name":"sleep","arguments":{"s":9}},{"id":"c","name":"sleep","arguments":{"s":1}}]}`, `{"text":"never"}`),
			Tools: []loop.Tool{sleeper("sleep", sleepOrAbort), sleeper("deaf", deaf)},
		}
		began := time.Now()
		out, err := loop.Run(ctx, c, new(replay.State), transcript.UserText("go"))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("took %v: the run must wait for the deaf tool, and for no other", took)
		}
		var results []string
		for i := range out.New {
			if m := &out.New[i]; m.Role == transcript.ToolResult {
				results = append(results, m.ToolCallID+": "+m.Text())
			}
		}
		want := []string{"a: slept", "b: context deadline exceeded", "c: slept"}
		if diff := cmp.Diff(want, results); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if out.Reason != transcript.StopAborted {
			t.Errorf("stop reason %s, want aborted", out.Reason)
		}
	})
}

// TestLateProgress: reports of a goroutine that outlives its call are dropped.
func TestLateProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := loop.Tool{
			Tool: transcript.Tool{Name: "leaky", Parameters: json.RawMessage(`{}`)},
			Run: func(_ context.Context, _ transcript.Call, progress func(loop.Result)) (loop.Result, error) {
				progress(loop.Result{})
				go func() {
					for range 3 {
						time.Sleep(time.Second)
						progress(loop.Result{})
					}
				}()
				return loop.Result{}, nil
			},
		}
		var updates atomic.Int64
		c := loop.Config{
			Model: scriptOf(t, `{"calls":[{"name":"leaky"}]}`, `{"text":"done"}`),
			Tools: []loop.Tool{tool},
			Emit: func(e loop.Event) error {
				if e.Type == loop.ToolExecutionUpdate {
					updates.Add(1)
				}
				return nil
			},
			FinishTurn: func(context.Context, loop.Turn) (loop.Decision, error) {
				time.Sleep(5 * time.Second)
				return loop.Default, nil
			},
		}
		if _, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go")); err != nil {
			t.Fatal(err)
		}
		if n := updates.Load(); n != 1 {
			t.Errorf("%d progress events, want 1", n)
		}
	})
}

// TestToolsThatDoNotReturn: panics and ended goroutines are error results.
func TestToolsThatDoNotReturn(t *testing.T) {
	tool := func(name string, run func() (loop.Result, error)) loop.Tool {
		return loop.Tool{
			Tool: transcript.Tool{Name: name, Parameters: json.RawMessage(`{}`)},
			Run:  func(context.Context, transcript.Call, func(loop.Result)) (loop.Result, error) { return run() },
		}
	}
	c := loop.Config{
		Model: scriptOf(t, `{"calls":[{"name":"panics"},{"name":"exits"},{"name":"absent"},{"name":"works"}]}`, `{"text":"done"}`),
		Tools: []loop.Tool{
			tool("panics", func() (loop.Result, error) { panic(errors.New("index out of range")) }),
			tool("exits", func() (loop.Result, error) { runtime.Goexit(); return loop.Result{}, nil }),
			tool("works", func() (loop.Result, error) { return loop.Result{}, nil }),
			{Tool: transcript.Tool{Name: "absent", Parameters: json.RawMessage(`{}`)}},
		},
	}
	out, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go"))
	if err != nil || out.Err != nil {
		t.Fatal(err, out.Err)
	}
	var got []string
	for i := range out.New {
		if m := &out.New[i]; m.Role == transcript.ToolResult {
			got = append(got, m.Text())
		}
	}
	want := []string{"tool panics panicked: index out of range", "the tool did not return", "tool absent cannot be run", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}
