package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// TestTranscript compares what a run appends, turnlog's own entries included,
// with a golden file: converted arguments, calls at once, steering, a changed
// view, another model, a vote to stop.
func TestTranscript(t *testing.T) {
	var file []byte
	ids, clock := 0, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	gate := make(chan struct{})
	tool := func(name string, run func() loop.Result) loop.Tool {
		tool := loop.Tool{
			Tool:    transcript.Tool{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
			Effects: loop.Read,
		}
		tool.Run = func(context.Context, transcript.Call, func(loop.Result)) (loop.Result, error) { return run(), nil }
		return tool
	}
	steering := loop.NewQueue(loop.All)
	c := loop.Config{
		Run: "r1",
		Model: scriptOf(t,
			`{"text":"Two things.","calls":[{"name":"slow","arguments":{"n":"7"}},{"name":"fast"}],"usage":{"input":9,"output":3}}`,
			`{"calls":[{"name":"last"}]}`),
		ModelRef: replay.ModelRef{Provider: "p", ID: "m"}, Thinking: "low", Params: json.RawMessage(`{"seed": 7}`), MaxTokens: 100,
		Tools: []loop.Tool{
			tool("slow", func() loop.Result {
				<-gate
				return loop.Result{Content: []transcript.Block{transcript.TextBlock("slow")}}
			}),
			tool("fast", func() loop.Result { return loop.Result{Content: []transcript.Block{transcript.TextBlock("fast")}} }),
			tool("last", func() loop.Result { return loop.Result{Terminate: true} }),
		},
		Steering: steering.Poll,
		PrepareNextTurn: func(context.Context, loop.Turn) (loop.TurnUpdate, error) {
			return loop.TurnUpdate{ModelRef: &replay.ModelRef{Provider: "p", ID: "m2"}, Thinking: "high"}, nil
		},
		TransformContext: func(_ context.Context, ms []transcript.Message) ([]transcript.Message, error) {
			if len(ms) < 4 {
				return ms, nil
			}
			return ms[:2], nil
		},
		Emit: func(e loop.Event) error {
			if e.Type == loop.ToolExecutionEnd && e.Call.Name == "fast" {
				steering.Push(transcript.UserText("hurry"))
				close(gate)
			}
			return nil
		},
		Append: func(e *transcript.Entry) error {
			file = append(transcript.AppendEntry(file, e), '\n')
			return nil
		},
		Now:   func() time.Time { return clock },
		NewID: func() string { ids++; return fmt.Sprintf("%08x", ids) },
	}
	if _, err := loop.Run(t.Context(), c, new(replay.State), transcript.UserText("go")); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "run.jsonl")
	if *update {
		if err := os.WriteFile(golden, file, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(file)); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}
