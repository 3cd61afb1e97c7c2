package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// BenchmarkLoop measures the loop itself, events rendered, and reports the
// time of one turn. scripts/bench-loop.sh runs the same turns on the real pi.
func BenchmarkLoop(b *testing.B) {
	for _, turns := range []int{100, 1000, 10000} {
		for _, calls := range []int{0, 1, 8} {
			b.Run(fmt.Sprintf("turns=%d/calls=%d", turns, calls), func(b *testing.B) {
				for _, transcriptOn := range []bool{false, true} {
					name := "memory"
					if transcriptOn {
						name = "transcript"
					}
					b.Run(name, func(b *testing.B) { benchmarkLoop(b, turns, calls, transcriptOn) })
				}
			})
		}
	}
}

func benchmarkLoop(b *testing.B, turns, calls int, transcriptOn bool) {
	b.ReportAllocs()
	var line, entry []byte
	for b.Loop() {
		var size int
		c := loop.Config{
			Model:    &turnsModel{turns: turns, calls: calls},
			ModelRef: replay.ModelRef{Provider: "bench", ID: "bench"},
			Tools:    benchTools(),
			Emit: func(e loop.Event) error {
				line = loop.AppendEvent(line[:0], &e)
				size += len(line)
				return nil
			},
		}
		if calls == 0 { // the run would end without calls
			c.FinishTurn = func(_ context.Context, t loop.Turn) (loop.Decision, error) {
				if t.N < turns {
					return loop.Continue, nil
				}
				return loop.Default, nil
			}
		}
		if transcriptOn {
			c.Append = func(e *transcript.Entry) error {
				entry = transcript.AppendEntry(entry[:0], e)
				size += len(entry)
				return nil
			}
		}
		outcome, err := loop.Run(b.Context(), c, &replay.State{}, transcript.UserText("go"))
		if err != nil || outcome.Turns != turns {
			b.Fatalf("%d turns, %v", outcome.Turns, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*turns), "ns/turn")
}

// benchTools are eight tools, as a coding agent has.
func benchTools() []loop.Tool {
	tools := make([]loop.Tool, 8)
	for i := range tools {
		tools[i] = echoTool()
		if i > 0 {
			tools[i].Name += strconv.Itoa(i)
		}
	}
	return tools
}

func echoTool() loop.Tool {
	return loop.Tool{
		Tool: transcript.Tool{
			Name: "echo", Description: "Gives back its text.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		},
		Run: func(_ context.Context, call transcript.Call, _ func(loop.Result)) (loop.Result, error) {
			return loop.Result{Content: []transcript.Block{transcript.TextBlock("ok")}, Details: json.RawMessage(`{}`)}, nil
		},
	}
}

// turnsModel streams a short text and some calls, turn after turn.
type turnsModel struct{ turns, calls, turn int }

func (m *turnsModel) Stream(_ context.Context, r replay.Request) iter.Seq2[loop.Delta, error] {
	m.turn++
	return func(yield func(loop.Delta, error) bool) {
		final := &transcript.Message{
			Role: transcript.Assistant, API: "bench", Provider: r.Model.Provider, Model: r.Model.ID,
			Content: make([]transcript.Block, 0, m.calls+1), StopReason: transcript.StopEnd,
		}
		const text = "Looking at the next item."
		final.Content = append(final.Content, transcript.TextBlock(text))
		ok := yield(loop.Delta{Kind: loop.Start}, nil) &&
			yield(loop.Delta{Kind: loop.TextStart}, nil) &&
			yield(loop.Delta{Kind: loop.TextDelta, Text: text}, nil) &&
			yield(loop.Delta{Kind: loop.TextEnd, Text: text}, nil)
		if m.turn < m.turns {
			for i := 1; i <= m.calls && ok; i++ {
				call := &transcript.Call{ID: "call_" + strconv.Itoa(m.turn) + "_" + strconv.Itoa(i), Name: "echo", Arguments: json.RawMessage(`{"text":"item"}`)}
				final.StopReason = transcript.StopToolUse
				final.Content = append(final.Content, transcript.Block{Type: transcript.BlockToolCall, Call: call})
				ok = yield(loop.Delta{Kind: loop.ToolCallStart, Index: i, Call: call}, nil) &&
					yield(loop.Delta{Kind: loop.ToolCallEnd, Index: i, Call: call}, nil)
			}
		}
		if ok {
			yield(loop.Delta{Kind: loop.Done, Final: final}, nil)
		}
	}
}
