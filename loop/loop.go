package loop

import (
	"context"
	"fmt"
	"sync"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// ContinueError says why a history cannot be continued without a prompt.
type ContinueError struct {
	Role transcript.Role // of the last message; "" if there is none
}

func (e *ContinueError) Error() string {
	if e.Role == "" {
		return "Cannot continue: no messages in context"
	}
	return fmt.Sprintf("Cannot continue from message role: %s", e.Role)
}

// Run plays one run: it appends prompts to the history s and asks the model
// until nothing is owed to it, no message is queued, and no seam wants more.
//
// Cancelling ctx aborts the run: calls that run keep their own outcome, the
// others get an error result, and the run ends with an aborted message. The
// error is what Emit or Append failed with, or why the run could not start;
// everything that goes wrong inside a turn is in the Outcome instead. s must
// not be used by others until Run returns; it then holds the whole history.
func Run(ctx context.Context, c Config, s *replay.State, prompts ...transcript.Message) (Outcome, error) {
	r, err := newRun(c, s)
	if err != nil {
		return Outcome{}, err
	}
	r.cause = causePrompt
	return r.main(ctx, prompts)
}

// Resume goes on from the history s without a new message: its last message
// must be one that a model can answer, else the error is a [*ContinueError]
// and nothing was emitted. With Config.Recover it may also leave calls open:
// they get their results first. It is otherwise like [Run].
func Resume(ctx context.Context, c Config, s *replay.State) (Outcome, error) {
	messages := s.Messages()
	if len(messages) == 0 {
		return Outcome{}, &ContinueError{}
	}
	open := c.Recover != nil && len(s.OpenCalls()) > 0
	if last := messages[len(messages)-1].Role; last == transcript.Assistant && !open {
		return Outcome{}, &ContinueError{Role: last}
	}
	r, err := newRun(c, s)
	if err != nil {
		return Outcome{}, err
	}
	r.cause = causeResume
	return r.main(ctx, nil)
}

// run is the state of one run. Only tool batches share it between goroutines,
// and what they touch is under mu.
type run struct {
	c       Config
	history *replay.State // what the transcript implies
	view    *replay.State // what requests show: the history until a seam replaced the context
	tools   toolbox
	ids     ids

	base     int  // messages that the history had before this run
	last     Turn // the last complete turn
	turns    int
	turnOpen bool // turn_start was emitted and turn_end was not
	cause    string
	pending  batch // what a queue gave and the next turn writes

	streaming partialAnswer // of the turn under way; its memory serves all turns

	mu       sync.Mutex // serialises Append, the fold, and Emit
	abort    context.CancelCauseFunc
	emitErr  error // of Emit; nothing is emitted after it
	writeErr error // of Append; nothing is appended after it, and only the end of the run is shown
	shown    shown
}

// batch is what one poll of a queue returned.
type batch struct {
	messages []transcript.Message
	via      string // steering or follow_up
}

// Causes of a request, as the transcript records them.
const (
	causePrompt   = "prompt"
	causeTools    = "tools"
	causeSteering = "steering"
	causeFollowUp = "follow_up"
	causeContinue = "continue"
	causeResume   = "resume"
)

func newRun(c Config, s *replay.State) (*run, error) {
	r := &run{c: c, history: s, view: s, base: len(s.Messages())}
	r.ids = newIDs(&r.c, s)
	if err := r.tools.set(c.Tools); err != nil {
		return nil, err
	}
	return r, nil
}

// main opens the run, plays its turns and closes it, whatever happens.
func (r *run) main(ctx context.Context, prompts []transcript.Message) (Outcome, error) {
	ctx, r.abort = context.WithCancelCause(ctx)
	defer r.abort(nil)
	r.emit(Event{Type: AgentStart})
	r.startTurn()
	if r.cause == causePrompt {
		for _, m := range r.declare(prompts) {
			r.commit(&m, false)
		}
	}
	failure := r.playFrom(ctx)
	if failure != nil {
		r.fail(ctx, failure)
	} else {
		r.emit(Event{Type: AgentEnd, Messages: r.newMessages()})
	}
	if r.writeErr != nil {
		r.lost()
	}
	return r.outcome(failure), r.ioErr()
}

// playFrom plays the turns, after what an interrupted process left undone.
func (r *run) playFrom(ctx context.Context) error {
	owed := true
	if r.cause == causeResume {
		var err error
		if owed, err = r.settle(ctx); err != nil {
			return err
		}
	}
	return r.play(ctx, owed)
}

// play is the double loop. The inner one plays turns as long as the model is
// owed an answer or messages are pending; the outer one asks for follow-ups
// and honours an open decision to continue. owed says whether an answer is
// owed at the start.
func (r *run) play(ctx context.Context, owed bool) error {
	if err := r.poll(ctx, r.c.Steering, causeSteering); err != nil {
		return err
	}
	for {
		again := false
		for owed || len(r.pending.messages) > 0 {
			t, err := r.turn(ctx)
			if err != nil || t.over {
				return err
			}
			if len(r.pending.messages) == 0 {
				if err := r.poll(ctx, r.c.Steering, causeSteering); err != nil {
					return err
				}
			}
			owed = t.owed
			switch {
			case owed:
				r.cause = causeTools
			case len(r.pending.messages) > 0:
				r.cause = causeSteering
			}
			again = t.decision == Continue && !owed && len(r.pending.messages) == 0
		}
		if err := r.poll(ctx, r.c.FollowUp, causeFollowUp); err != nil {
			return err
		}
		owed = true
		switch {
		case len(r.pending.messages) > 0:
			r.cause = causeFollowUp
		case again:
			r.cause = causeContinue
		default:
			return nil
		}
	}
}

// poll asks a queue for messages, which open the next turn.
func (r *run) poll(ctx context.Context, queue func(context.Context) ([]transcript.Message, error), via string) error {
	if queue == nil {
		return nil
	}
	messages, err := guard(via, func() ([]transcript.Message, error) { return queue(ctx) })
	if err != nil {
		return err
	}
	r.pending = batch{messages, via}
	return nil
}

// newMessages are what this run added: the loop only appends messages, so they
// are the tail of the history, and no copy of them is kept.
func (r *run) newMessages() []transcript.Message { return r.history.Messages()[r.base:] }

func (r *run) outcome(failure error) Outcome {
	o := Outcome{New: r.newMessages(), Turns: r.turns, Err: failure}
	for i := len(o.New) - 1; i >= 0; i-- {
		if m := &o.New[i]; m.Role == transcript.Assistant {
			o.Reason = m.StopReason
			if failure == nil && m.Failed() {
				o.Err = &AnswerError{Reason: m.StopReason, Text: m.ErrorMessage}
			}
			break
		}
	}
	return o
}
