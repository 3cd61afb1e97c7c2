package policy

import (
	"context"
	"encoding/json"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// poll asks a queue for messages.
type poll = func(context.Context) ([]transcript.Message, error)

func polls(policies []Policy, of func(Policy) poll) poll {
	var asked []poll
	for _, p := range policies {
		if f := of(p); f != nil {
			asked = append(asked, f)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	return func(ctx context.Context) ([]transcript.Message, error) {
		for _, f := range asked {
			if ms, err := f(ctx); err != nil || len(ms) > 0 {
				return ms, err
			}
		}
		return nil, nil
	}
}

func finishTurn(policies []Policy) func(context.Context, loop.Turn) (loop.Decision, error) {
	return func(ctx context.Context, t loop.Turn) (loop.Decision, error) {
		all := loop.Default
		for _, p := range policies {
			if p.FinishTurn == nil {
				continue
			}
			d, err := p.FinishTurn(ctx, t)
			if err != nil {
				return loop.Default, err
			}
			if d == loop.End || all == loop.Default {
				all = d
			}
		}
		return all, nil
	}
}

func prepareNextTurn(policies []Policy) func(context.Context, loop.Turn) (loop.TurnUpdate, error) {
	return func(ctx context.Context, t loop.Turn) (loop.TurnUpdate, error) {
		var all loop.TurnUpdate
		for _, p := range policies {
			if p.PrepareNextTurn == nil {
				continue
			}
			u, err := p.PrepareNextTurn(ctx, t)
			if err != nil {
				return loop.TurnUpdate{}, err
			}
			if u.Model != nil {
				all.Model = u.Model
			}
			if u.ModelRef != nil {
				all.ModelRef = u.ModelRef
			}
			if u.Thinking != "" {
				all.Thinking = u.Thinking
			}
			if u.Tools != nil {
				all.Tools = u.Tools
			}
			if u.Context != nil {
				all.Context = u.Context
			}
			all.Messages = append(all.Messages, u.Messages...)
		}
		return all, nil
	}
}

func prepareRequest(policies []Policy) func(context.Context, loop.RequestInfo) (loop.RequestUpdate, error) {
	return func(ctx context.Context, r loop.RequestInfo) (loop.RequestUpdate, error) {
		var all loop.RequestUpdate
		for _, p := range policies {
			if p.PrepareRequest == nil {
				continue
			}
			u, err := p.PrepareRequest(ctx, r)
			if err != nil {
				return loop.RequestUpdate{}, err
			}
			if u.Model != nil {
				all.Model = u.Model
			}
			if u.ModelRef != nil {
				all.ModelRef = u.ModelRef
			}
			if u.Thinking != "" {
				all.Thinking = u.Thinking
			}
			if u.Context != nil {
				all.Context = u.Context
			}
			if u.MaxTokens > 0 && (all.MaxTokens == 0 || u.MaxTokens < all.MaxTokens) {
				all.MaxTokens = u.MaxTokens
			}
		}
		return all, nil
	}
}

func beforeTool(policies []Policy) func(context.Context, loop.ToolCallInfo) (loop.Verdict, error) {
	return func(ctx context.Context, c loop.ToolCallInfo) (loop.Verdict, error) {
		var changed json.RawMessage
		for _, p := range policies {
			if p.BeforeTool == nil {
				continue
			}
			v, err := p.BeforeTool(ctx, c)
			if err != nil || v.Block {
				return v, err
			}
			if v.Arguments != nil {
				changed = v.Arguments
				c.Call.Arguments = v.Arguments
			}
		}
		return loop.Verdict{Arguments: changed}, nil
	}
}

func afterTool(policies []Policy) func(context.Context, loop.ToolCallInfo, loop.Result) (loop.ResultPatch, error) {
	return func(ctx context.Context, c loop.ToolCallInfo, r loop.Result) (loop.ResultPatch, error) {
		var all loop.ResultPatch
		for _, p := range policies {
			if p.AfterTool == nil {
				continue
			}
			patch, err := p.AfterTool(ctx, c, r)
			if err != nil {
				return loop.ResultPatch{}, err
			}
			r.Patch(patch)
			all = merged(all, patch)
		}
		return all, nil
	}
}

// merged is the patch that does what a and then b do.
func merged(a, b loop.ResultPatch) loop.ResultPatch {
	if b.Content != nil {
		a.Content, a.StructuredContent = b.Content, nil
	}
	if b.Details != nil {
		a.Details = b.Details
	}
	if b.StructuredContent != nil {
		a.StructuredContent = b.StructuredContent
	}
	if b.Usage != nil {
		a.Usage = b.Usage
	}
	if b.IsError != nil {
		a.IsError = b.IsError
	}
	if b.Terminate != nil {
		a.Terminate = b.Terminate
	}
	return a
}
