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

// prepareRequest is the seam of the one policy that fills it.
func prepareRequest(policies []Policy) func(context.Context, loop.RequestInfo) (loop.RequestUpdate, error) {
	for _, p := range policies {
		if p.PrepareRequest != nil {
			return p.PrepareRequest
		}
	}
	return nil
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
