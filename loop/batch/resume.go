package batch

import (
	"context"
	"errors"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/replay/transcript"
)

// resume plays what is left of the run that was interrupted. next is the
// prompt that comes after it.
func (a *attempt) resume(ctx context.Context) (next int, err error) {
	p := a.session.Past()
	switch {
	case p == nil:
		return 0, nil
	case p.Runs == 0 || p.Pending:
		return p.Prompts, nil
	case p.End != nil && p.End.Status == string(policy.OK):
		if a.setup.output != nil && p.Prompts == len(a.task.Prompts) {
			a.setup.output.Take()
		}
		return p.Prompts, nil
	case p.End != nil && p.End.Status != string(policy.Aborted):
		a.stop.Set(policy.Status(p.End.Status), p.End.Reason)
		return p.Prompts, nil
	}
	if p.Prompts == len(a.task.Prompts) {
		a.setup.final()
	}
	return p.Prompts, a.run(ctx, true, func(c loop.Config) (loop.Outcome, error) { return a.goOn(ctx, c) })
}

// goOn continues the history as it stands: open calls get their results, an
// unanswered request is asked again, an agent that had stopped hears what is
// still queued.
func (a *attempt) goOn(ctx context.Context, c loop.Config) (loop.Outcome, error) {
	if err := a.session.DropFailedTail(); err != nil {
		return loop.Outcome{}, err
	}
	c.Recover = a.session.Past().Recover
	history := a.session.History()
	items := history.Context()
	if len(items) == 0 {
		return loop.Outcome{}, errors.New("the transcript has no message to go on from")
	}
	last := &items[len(items)-1].Message
	if a.owed(last) {
		return loop.Resume(ctx, c, history)
	}
	for _, poll := range []func(context.Context) ([]transcript.Message, error){c.Steering, c.FollowUp} {
		if poll == nil {
			continue
		}
		if ms, err := poll(ctx); err != nil {
			return loop.Outcome{}, err
		} else if len(ms) > 0 {
			return loop.Run(ctx, c, history, ms...)
		}
	}
	return loop.Outcome{New: []transcript.Message{*last}, Reason: last.StopReason}, nil
}

// owed reports whether the interrupted run would have gone on with another
// request: calls are open, or the last message waits for an answer and nothing
// had ended the run.
func (a *attempt) owed(last *transcript.Message) bool {
	switch {
	case len(a.session.History().OpenCalls()) > 0:
		return true
	case last.Role == transcript.Assistant, a.session.Past().Terminated:
		return false
	}
	return a.setup.limiter.Room()
}
