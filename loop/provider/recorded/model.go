package recorded

import (
	"context"
	"iter"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Exhausted is the error message of an answer beyond the end of the recording.
const Exhausted = "no recorded answer left"

// Model gives the recorded answers in order. The first request decides which
// one is next: as many are passed over as it shows answers, so that a resumed
// run goes on where it stopped.
func (r *Recording) Model() loop.Model { return model{r} }

type model struct{ r *Recording }

// Stream implements [loop.Model].
func (m model) Stream(ctx context.Context, req replay.Request) iter.Seq2[loop.Delta, error] {
	answer := m.r.take(req.Messages)
	return func(yield func(loop.Delta, error) bool) {
		if answer == nil {
			answer = &transcript.Message{Role: transcript.Assistant, StopReason: transcript.StopError, ErrorMessage: Exhausted}
		}
		final := *answer
		final.Timestamp = 0
		if ctx.Err() != nil {
			final = transcript.Message{Role: transcript.Assistant, StopReason: transcript.StopAborted, ErrorMessage: context.Cause(ctx).Error()}
		}
		if len(final.Content) > 0 && !yield(loop.Delta{Kind: loop.Start}, nil) {
			return
		}
		for i := range final.Content {
			for _, d := range deltas(i, &final.Content[i]) {
				if !yield(d, nil) {
					return
				}
			}
		}
		yield(loop.Delta{Kind: loop.Done, Final: &final}, nil)
	}
}

// deltas streams a block in one piece.
func deltas(i int, b *transcript.Block) []loop.Delta {
	switch b.Type {
	case transcript.BlockToolCall:
		return []loop.Delta{
			{Kind: loop.ToolCallStart, Index: i, Call: b.Call},
			{Kind: loop.ToolCallEnd, Index: i, Call: b.Call, Block: b},
		}
	case transcript.BlockThinking:
		return text(i, b, loop.ThinkingStart, loop.ThinkingDelta, loop.ThinkingEnd)
	}
	return text(i, b, loop.TextStart, loop.TextDelta, loop.TextEnd)
}

func text(i int, b *transcript.Block, start, delta, end loop.DeltaKind) []loop.Delta {
	list := []loop.Delta{{Kind: start, Index: i}}
	if b.Text != "" {
		list = append(list, loop.Delta{Kind: delta, Index: i, Text: b.Text})
	}
	return append(list, loop.Delta{Kind: end, Index: i, Text: b.Text, Block: b})
}

// take gives the next recorded answer, nil behind the last one.
func (r *Recording) take(history []transcript.Message) *transcript.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.known {
		r.known = true
		for i := range history {
			if history[i].Role == transcript.Assistant {
				r.next++
			}
		}
	}
	if r.next >= len(r.turns) {
		r.next = len(r.turns)
		return nil
	}
	r.next++
	return r.turns[r.next-1].answer
}

// Tools returns stand-ins for tools with these declarations: each call gets
// what was recorded for its id, without doing anything. A call that was never
// recorded gets an error result.
func (r *Recording) Tools(declared []transcript.Tool) []loop.Tool {
	tools := make([]loop.Tool, len(declared))
	for i, d := range declared {
		tools[i] = loop.Tool{
			Tool: d, Effects: loop.None,
			Run: func(_ context.Context, call transcript.Call, _ func(loop.Result)) (loop.Result, error) {
				return r.result(call), nil
			},
		}
	}
	return tools
}

func (r *Recording) result(call transcript.Call) loop.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.used[call.ID]
	for n < len(r.results[call.ID]) && !r.results[call.ID][n].ran && n+1 < len(r.results[call.ID]) {
		n++ // a result that no tool gave is not one to give
	}
	if n >= len(r.results[call.ID]) {
		return loop.Result{
			Content: []transcript.Block{transcript.TextBlock(strings.Join([]string{"no result was recorded for call", call.ID, "of", call.Name}, " "))},
			IsError: true,
		}
	}
	r.used[call.ID] = n + 1
	return r.results[call.ID][n].Result
}
