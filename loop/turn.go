package loop

import (
	"context"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// turnResult is what a turn leaves to the double loop.
type turnResult struct {
	owed     bool // tool results wait for an answer
	over     bool // the run ends here: the answer failed, or FinishTurn said so
	decision Decision
}

// turn plays one turn: what is pending, a request, its tool calls. Its start
// was emitted already if it is the run's first.
func (r *run) turn(ctx context.Context) (turnResult, error) {
	prepared, err := r.prepareTurn(ctx)
	if err != nil {
		return turnResult{}, err
	}
	queued := r.writePending(prepared)
	if err := r.prepareRequest(ctx); err != nil {
		return turnResult{}, err
	}
	req, sent, err := r.request(ctx)
	if err != nil {
		return turnResult{}, err
	}
	r.turns++
	message, err := r.answer(ctx, req, r.newRequestRecord(queued, sent))
	if err != nil {
		return turnResult{}, err
	}
	t := Turn{N: r.turns, Message: message, State: r.view}
	if message.Failed() {
		_, err := r.finishTurn(ctx, t, false)
		return turnResult{over: true}, err
	}
	outcome := r.runCalls(ctx, message)
	if outcome.err != nil {
		return turnResult{}, outcome.err
	}
	t.Results = outcome.results
	decision, err := r.finishTurn(ctx, t, outcome.terminate)
	return turnResult{
		owed:     len(t.Results) > 0 && !outcome.terminate,
		over:     decision == End,
		decision: decision,
	}, err
}

// prepareTurn opens every turn but a run's first, and returns the messages
// that PrepareNextTurn wants written.
func (r *run) prepareTurn(ctx context.Context) ([]transcript.Message, error) {
	if r.turnOpen { // the run's first
		return nil, nil
	}
	var prepared []transcript.Message
	if r.c.PrepareNextTurn != nil {
		u, err := guard("PrepareNextTurn", func() (TurnUpdate, error) { return r.c.PrepareNextTurn(ctx, r.last) })
		if err != nil {
			return nil, err
		}
		prepared = u.Messages
		r.update(RequestUpdate{Model: u.Model, ModelRef: u.ModelRef, Thinking: u.Thinking, Context: u.Context})
		if u.Tools != nil {
			if err := r.tools.set(u.Tools); err != nil {
				return nil, err
			}
		}
	}
	// Preparing may have taken long: look again for steering, but never take
	// two batches into one turn. The older loop did not look.
	if len(r.pending.messages) == 0 && r.c.SteeringMode != SkipRemaining {
		if err := r.poll(ctx, r.c.Steering, causeSteering); err != nil {
			return nil, err
		}
	}
	r.startTurn()
	return prepared, nil
}

// writePending writes prepared and queued messages with the declarations that
// are due, and returns which entries came out of a queue.
func (r *run) writePending(prepared []transcript.Message) []transcript.Queued {
	pending := r.pending
	r.pending = batch{}
	messages := pending.messages
	if len(prepared) > 0 {
		messages = append(prepared[:len(prepared):len(prepared)], messages...)
	}
	messages = r.declare(messages)
	first := len(messages) - len(pending.messages) // of those out of the queue
	var queued []transcript.Queued
	for i, m := range messages { // m is a copy: the history keeps it, the caller its own
		id := r.commit(&m, false)
		if i >= first && id != "" {
			queued = append(queued, transcript.Queued{Entry: id, Via: pending.via})
		}
	}
	return queued
}

func (r *run) prepareRequest(ctx context.Context) error {
	if r.c.PrepareRequest == nil {
		return nil
	}
	info := RequestInfo{
		State: r.view, Messages: r.view.Messages(),
		ModelRef: r.c.ModelRef, Thinking: thinkingLevel(r.c.Thinking),
	}
	u, err := guard("PrepareRequest", func() (RequestUpdate, error) { return r.c.PrepareRequest(ctx, info) })
	if err != nil {
		return err
	}
	r.update(u)
	return nil
}

// update takes over what a seam replaced, for the rest of the run.
func (r *run) update(u RequestUpdate) {
	if u.Model != nil {
		r.c.Model = u.Model
	}
	if u.ModelRef != nil {
		r.c.ModelRef = *u.ModelRef
	}
	if u.Thinking != "" {
		r.c.Thinking = u.Thinking
	}
	if u.MaxTokens != 0 {
		r.c.MaxTokens = u.MaxTokens
	}
	if u.Context != nil {
		r.view = &replay.State{}
		for _, m := range u.Context {
			r.view.Append(m)
		}
		r.tools.declared = false
	}
}

func (r *run) startTurn() {
	r.turnOpen = true
	r.emit(Event{Type: TurnStart})
}

// finishTurn asks FinishTurn about a turn that has a message and closes it.
func (r *run) finishTurn(ctx context.Context, t Turn, terminated bool) (Decision, error) {
	t.New = r.newMessages()
	r.last = t
	decision := Default
	if r.c.FinishTurn != nil {
		var err error
		decision, err = guard("FinishTurn", func() (Decision, error) { return r.c.FinishTurn(ctx, t) })
		if err != nil {
			return Default, err
		}
	}
	if t.Message.Failed() {
		decision = Default
	}
	r.endTurn(t, decision, terminated)
	return decision, nil
}

// endTurn emits turn_end after the turn's record is in the transcript.
func (r *run) endTurn(t Turn, decision Decision, terminated bool) {
	if r.c.Append != nil {
		r.note(transcript.CustomTurn, transcript.TurnRecord{
			Decision: string(decision), Terminated: terminated,
			StopReason: t.Message.StopReason, RawStopReason: t.Message.RawStopReason,
		})
	}
	r.turnOpen = false
	r.emit(Event{Type: TurnEnd, Message: t.Message, Results: t.Results})
}
