package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/batch/session"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// attempt is one try at a task: it plays the prompts, one run each, and ends
// with a result.
type attempt struct {
	b      *batch
	task   *task.Task
	n      int // 1, then one more per retry
	stream *stream
	began  time.Time
	abort  context.CancelCauseFunc

	model   loop.Model
	session *session.Session // nil until it is open
	setup   setup
	heard   *listener // nil until the set-up is complete
	stop    policy.Stop

	unanswered bool // the last request failed: another attempt may help
	assertions []results.Assertion
}

// main runs a task and says how it ended. A panic is the failure of
// this task alone.
func (a *attempt) main(ctx context.Context, resumed bool) (res results.Result) {
	a.began = a.b.o.Now()
	ctx, a.abort = context.WithCancelCause(ctx)
	defer a.abort(nil)
	defer func() {
		if v := recover(); v != nil {
			a.stop.Set(policy.Error, fmt.Sprintf("internal panic: %v", v))
			fmt.Fprintf(os.Stderr, "turnlog: error: task %s: internal panic: %v\n%s", a.task.ID, v, debug.Stack())
		}
		if err := a.close(); err != nil {
			a.stop.Set(policy.Error, err.Error())
		}
		res = a.result(ctx)
	}()
	limits := a.task.Finish.Limits
	a.setup = setup{
		task: a.task, stop: &a.stop, kit: toolkit{task: a.task, builtins: a.b.o.Builtins, override: a.b.o.Tools},
		clock: policy.StartClock(limits.Wall, limits.Idle, &a.stop, a.abort),
	}
	if err := a.play(ctx, resumed); err != nil {
		a.fail(ctx, err)
	}
	if err := a.sealUnstarted(ctx); err != nil {
		a.fail(ctx, err)
	}
	a.finish(ctx)
	return res
}

// finish judges the task when its runs are over.
func (a *attempt) finish(ctx context.Context) {
	if a.setup.limiter == nil || ctx.Err() != nil {
		return // never equipped, or aborted: there is nothing to judge
	}
	j := judgement{task: a.task, setup: &a.setup, session: a.session, took: a.b.o.Now().Sub(a.began)}
	a.assertions = j.pass(ctx)
}

// sealUnstarted gives a transcript its end if no run of this process did: the
// tools could not be set up, or a signal came first.
func (a *attempt) sealUnstarted(ctx context.Context) error {
	aborted(ctx, &a.stop)
	if a.session == nil || a.session.Header() == nil || a.session.Sealed() {
		return nil
	}
	p := a.session.Past()
	id, err := a.begin(p != nil && p.Runs > 0 && !p.Pending)
	if err != nil {
		return err
	}
	return a.seal(id, 0)
}

// close gives back what the attempt held.
func (a *attempt) close() error {
	err := a.setup.close()
	if a.session != nil {
		err = errors.Join(err, a.session.Close())
	}
	return err
}

// fail gives the task the status of an error that is not the agent's.
func (a *attempt) fail(ctx context.Context, err error) {
	if !errors.Is(context.Cause(ctx), ErrClosed) {
		aborted(ctx, &a.stop)
	}
	a.stop.Set(policy.Error, err.Error())
}

// aborted gives the task the status of an abort, if there was one.
func aborted(ctx context.Context, stop *policy.Stop) bool {
	cause := context.Cause(ctx)
	if cause == nil {
		return false
	}
	var timeout *policy.TimeoutError
	if errors.As(cause, &timeout) {
		stop.Set(policy.Limit, timeout.Limit)
	} else {
		stop.Set(policy.Aborted, cause.Error())
	}
	return true
}

// play opens the transcript and plays the prompts, one run each.
func (a *attempt) play(ctx context.Context, resumed bool) (err error) {
	if err := a.open(resumed); err != nil {
		return err
	}
	if a.model, err = a.b.newModel(a.task, a.setup.clock.Hold); err != nil {
		return fmt.Errorf("make the model: %w", err)
	}
	control := a.b.o.Control
	control.start(a.task.ID, a.abort)
	defer control.end(a.task.ID)
	if err := a.announce(); err != nil {
		return err
	}
	if err := a.equip(ctx); err != nil {
		return err
	}
	control.begin(a.task.ID, a.heard)
	err = a.prompts(ctx)
	control.end(a.task.ID)
	return errors.Join(err, a.unheard())
}

// open makes the transcript, or goes on with the one that an earlier process
// left. A task that changed since is begun anew, as the next attempt.
func (a *attempt) open(resumed bool) (err error) {
	cwd, err := filepath.Abs(a.task.Path(a.task.Workdir))
	if err != nil {
		return fmt.Errorf("find the working folder: %w", err)
	}
	o := &a.b.o
	jo := journal.Options{Sync: o.Sync, Mask: o.Mask.Line, Wrap: o.Wrap}
	if resumed {
		a.session, err = session.Open(session.Path(o.Out, a.task.ID, a.n), jo, o.Now, a.task.Digest())
		if errors.Is(err, session.ErrChanged) {
			a.n++
			resumed = false
		}
	}
	if !resumed {
		a.session, err = session.Create(session.Path(o.Out, a.task.ID, a.n), jo, o.Now)
	}
	if err != nil {
		return err
	}
	return a.session.Start(cwd, o.Version)
}

// startedBody is what task_start says, and task_retry.
type startedBody struct {
	Transcript string          `json:"transcript"`
	File       string          `json:"file"`
	TaskDigest string          `json:"taskDigest"`
	Attempt    int             `json:"attempt"`
	Resumed    bool            `json:"resumed,omitempty"`
	Session    json.RawMessage `json:"session"` // the transcript's first line

	Description string            `json:"description,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

// announce says that the task starts, or starts again.
func (a *attempt) announce() error {
	kind := TaskStart
	if a.stream.started() {
		kind = TaskRetry
	}
	return a.stream.own(kind, startedBody{
		Transcript: a.session.Path(), File: a.task.File, TaskDigest: a.task.Digest(), Attempt: a.n,
		Resumed: a.session.Past() != nil, Session: transcript.AppendEntry(nil, a.session.Header()),
		Description: a.task.Description, Labels: a.task.Labels,
	})
}

type noteBody struct {
	Message string `json:"message"`
}

// equip sets up tools and policies, and says what a person should know of them.
func (a *attempt) equip(ctx context.Context) error {
	history, past := a.session.History(), a.session.Past()
	before := policy.Account{Turns: history.Turn(), Usage: history.Usage()}
	if past != nil {
		before.ToolCalls = past.Calls
	}
	if err := a.setup.equip(ctx, before, a.b.ledger); err != nil {
		return err
	}
	if past != nil {
		a.setup.restore(past, history.Messages())
	}
	a.heard = &listener{conversation: a.setup.conversation, stream: a.stream, abort: a.abort}
	for _, text := range a.setup.kit.notes {
		if err := a.stream.own(TaskNote, noteBody{text}); err != nil {
			return err
		}
	}
	return nil
}

// unheard says that messages from outside came too late: each was answered as
// a success when it was queued.
func (a *attempt) unheard() error {
	steering, followUps := a.setup.conversation.Waiting()
	n := len(steering) + len(followUps)
	if n == 0 || a.b.o.Control == nil {
		return nil
	}
	return a.stream.own(TaskNote, noteBody{fmt.Sprintf("the task ended; queued messages that were not heard: %d", n)})
}

// result is how the attempt ended.
func (a *attempt) result(ctx context.Context) results.Result {
	status, reason := a.stop.Status()
	status = cmp.Or(status, policy.OK)
	res := results.New(a.task, status)
	res.Reason, res.Attempt, res.CostUSD, res.Assertions = reason, a.n, a.setup.costUSD(), a.assertions
	res.DurationMs = max(a.b.o.Now().Sub(a.began).Milliseconds(), 0)
	if a.session != nil {
		history := a.session.History()
		res.Turns, res.Usage, res.Answer = history.Turn(), results.UsageOf(history.Usage()), lastText(history.Messages())
		res.Transcript, res.Digest = filepath.Base(a.session.Path()), a.session.Digest()
	}
	if answer := a.setup.answer(); answer != nil {
		res.Answer = string(answer)
	}
	if a.setup.limiter != nil {
		res.ToolCalls = a.setup.limiter.ToolCalls()
	}
	var c coder
	if status == policy.Aborted && errors.As(context.Cause(ctx), &c) {
		res.ExitCode = c.ExitCode()
	}
	return res
}
