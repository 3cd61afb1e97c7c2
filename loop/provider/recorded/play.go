package recorded

import (
	"context"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// install gives c everything that run needs to be played again.
func (r *Recording) install(run *run, c *loop.Config) {
	first := &r.turns[run.first]
	c.Model = r.Model()
	c.ModelRef = replay.ModelRef{Provider: first.answer.Provider, ID: first.answer.Model}
	c.Thinking = first.answer.ThinkingLevel
	c.Tools = r.Tools(first.tools)
	if run.execution != "" {
		c.Execution = run.execution
	}
	c.Steering = func(context.Context) ([]transcript.Message, error) { return r.deliver(run, false), nil }
	c.FollowUp = func(context.Context) ([]transcript.Message, error) { return r.deliver(run, true), nil }
	c.PrepareNextTurn = func(context.Context, loop.Turn) (loop.TurnUpdate, error) { return r.prepare(run), nil }
	c.FinishTurn = func(context.Context, loop.Turn) (loop.Decision, error) { return r.decide(run), nil }
	c.Recover = r.recover
}

// upcoming is the turn of run that is played next, nil if there is none.
func (r *Recording) upcoming(run *run) *turn {
	if r.next < run.first || r.next >= run.end {
		return nil
	}
	return &r.turns[r.next]
}

// deliver gives the messages that came before the next turn, once.
func (r *Recording) deliver(run *run, stopping bool) []transcript.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.upcoming(run)
	if t == nil || t.delivered || t.followUp && !stopping {
		return nil
	}
	t.delivered = true
	return t.pending
}

// prepare gives the next turn the tools and the model that it had.
func (r *Recording) prepare(run *run) loop.TurnUpdate {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.upcoming(run)
	if t == nil {
		return loop.TurnUpdate{}
	}
	return loop.TurnUpdate{
		Tools:    r.Tools(t.tools),
		ModelRef: &replay.ModelRef{Provider: t.answer.Provider, ID: t.answer.Model},
		Thinking: t.answer.ThinkingLevel,
	}
}

// decide repeats what FinishTurn decided. Where that was not recorded, it
// follows from what came next.
func (r *Recording) decide(run *run) loop.Decision {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next <= run.first || r.next > run.end {
		return loop.Default
	}
	t := &r.turns[r.next-1]
	next := r.upcoming(run)
	owed := len(t.answer.Calls()) > 0 && !t.terminated
	switch {
	case t.closed:
		return t.decision
	case next == nil && owed:
		return loop.End
	case next != nil && !owed && len(next.pending) == 0:
		return loop.Continue
	}
	return loop.Default
}

// recover gives a call that an interruption left open what the resumed run
// gave it.
func (r *Recording) recover(call transcript.Call) loop.Recovery {
	result := r.result(call)
	return loop.Recovery{Result: &result}
}
