package batch

import (
	"context"
	"iter"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// failing is a model whose endpoint is down.
type failing struct{}

func (failing) Stream(_ context.Context, r replay.Request) iter.Seq2[loop.Delta, error] {
	return func(yield func(loop.Delta, error) bool) {
		yield(loop.Delta{Kind: loop.Done, Final: &transcript.Message{
			Role: transcript.Assistant, Provider: r.Model.Provider, Model: r.Model.ID,
			StopReason: transcript.StopError, ErrorMessage: "503 unavailable",
		}}, nil)
	}
}

// failsSecond is a model whose endpoint goes down after its first answer.
type failsSecond struct{ loop.Model }

func (m failsSecond) Stream(ctx context.Context, r replay.Request) iter.Seq2[loop.Delta, error] {
	for i := range r.Messages {
		if r.Messages[i].Role == transcript.Assistant {
			return failing{}.Stream(ctx, r)
		}
	}
	return m.Model.Stream(ctx, r)
}
