package recorded

import (
	"context"
	"fmt"
	"iter"

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
			if !stream(i, &final.Content[i], yield) {
				return
			}
		}
		yield(loop.Delta{Kind: loop.Done, Final: &final}, nil)
	}
}

// stream yields a block in one piece.
func stream(i int, b *transcript.Block, yield func(loop.Delta, error) bool) bool {
	start, delta, end := loop.BlockKinds(b.Type)
	return yield(loop.Delta{Kind: start, Index: i, Call: b.Call}, nil) &&
		(b.Call != nil || b.Text == "" || yield(loop.Delta{Kind: delta, Index: i, Text: b.Text}, nil)) &&
		yield(loop.Delta{Kind: end, Index: i, Text: b.Text, Call: b.Call, Block: b}, nil)
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
		r.next = min(r.next, len(r.turns))
	}
	if r.next == len(r.turns) {
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
	list, n := r.results[call.ID], r.used[call.ID]
	for n+1 < len(list) && !list[n].ran {
		n++ // a result that no tool gave is not one to give
	}
	if n >= len(list) {
		words := fmt.Sprintf("no result was recorded for call %s of %s", call.ID, call.Name)
		return loop.Result{Content: []transcript.Block{transcript.TextBlock(words)}, IsError: true}
	}
	r.used[call.ID] = n + 1
	return list[n].Result
}
