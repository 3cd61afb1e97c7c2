package batch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// attempt is one try at a task: one history, one transcript.
type attempt struct {
	b      *batch
	model  loop.Model
	task   *task.Task
	stream *stream
	began  time.Time

	n       int  // 1, then one more per retry
	resumed bool // the transcript may be there already
	past    *past
	path    string
	header  *transcript.Entry
	journal *journal.Journal
	history *replay.State
	ids     ids
	runs    int    // turnlog.run entries of the file
	sealed  bool   // its last run has its end
	leaf    string // id of the last entry in the file

	kit          toolkit
	stop         policy.Stop
	limiter      *policy.Limiter
	clock        *policy.Clock
	tools        *policy.ToolSet
	permissions  *policy.Permissions
	repeated     *policy.RepeatedCalls
	conversation *policy.Conversation
	output       *policy.Output // nil if no answer is required
	checks       *policy.Checks
	seams        []policy.Policy

	abort      context.CancelCauseFunc
	queue      sync.Mutex
	queued     queueBody // as it was shown last
	calls      int       // tool calls of earlier processes
	wrote      bool      // a tool with effects may have run
	unanswered bool      // the last request failed: another attempt may help
	last       string    // text of the last answer
	assertions []Assertion
}

// main runs a task and says how it ended. A panic is the failure of
// this task alone.
func (a *attempt) main(ctx context.Context) (res Result) {
	a.began, a.history, a.ids = a.b.o.Now(), &replay.State{}, ids{}
	a.kit = toolkit{task: a.task, builtins: a.b.o.Builtins, override: a.b.o.Tools}
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
	a.clock = policy.StartClock(limits.Wall, limits.Idle, &a.stop, a.abort)
	if err := a.play(ctx); err != nil {
		a.fail(ctx, err)
	}
	if err := a.sealUnstarted(ctx); err != nil {
		a.fail(ctx, err)
	}
	a.finish(ctx)
	return res
}

// sealUnstarted gives a transcript its end if no run of this process did: the
// tools could not be set up, or a signal came first.
func (a *attempt) sealUnstarted(ctx context.Context) error {
	a.aborted(ctx)
	if a.header == nil || a.sealed {
		return nil
	}
	id, err := a.beginRun(a.past != nil && a.past.runs > 0 && !a.past.pending)
	if err != nil {
		return err
	}
	return a.seal(id, loop.Outcome{})
}

// close gives back what the attempt held.
func (a *attempt) close() error {
	a.clock.Stop()
	if a.limiter != nil {
		a.limiter.Close()
	}
	err := a.kit.close()
	if a.journal != nil {
		err = errors.Join(err, a.journal.Close())
	}
	return err
}

// fail gives the task the status of an error that is not the agent's.
func (a *attempt) fail(ctx context.Context, err error) {
	if !errors.Is(context.Cause(ctx), ErrClosed) {
		a.aborted(ctx)
	}
	a.stop.Set(policy.Error, err.Error())
}

// aborted gives the task the status of an abort, if there was one.
func (a *attempt) aborted(ctx context.Context) bool {
	if ctx.Err() == nil {
		return false
	}
	var timeout *policy.TimeoutError
	if errors.As(context.Cause(ctx), &timeout) {
		a.stop.Set(policy.Limit, timeout.Limit)
	} else {
		a.stop.Set(policy.Aborted, reasonOf(context.Cause(ctx)))
	}
	return true
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

// play opens the transcript and plays the prompts, one run each.
func (a *attempt) play(ctx context.Context) error {
	if err := a.open(); err != nil {
		return err
	}
	var err error
	if a.model, err = a.b.newModel(a.task, a.clock.Hold); err != nil {
		return fmt.Errorf("make the model: %w", err)
	}
	a.b.o.Control.start(a.task.ID, a.abort)
	defer a.b.o.Control.end(a.task.ID)
	kind := TaskStart
	if a.stream.started() {
		kind = TaskRetry
	}
	if err := a.stream.own(kind, startedBody{
		Transcript: a.path, File: a.task.File, TaskDigest: a.task.Digest(), Attempt: a.n,
		Resumed: a.past != nil, Session: transcript.AppendEntry(nil, a.header),
		Description: a.task.Description, Labels: a.task.Labels,
	}); err != nil {
		return err
	}
	if err := a.equip(ctx); err != nil {
		return err
	}
	a.restore()
	if err := a.notes(); err != nil {
		return err
	}
	a.b.o.Control.begin(a.task.ID, &controlled{a.conversation, a.showQueue, a.abort})
	next, err := a.resume(ctx)
	for ; err == nil && next < len(a.task.Prompts); next++ {
		if !a.limiter.Room() || ctx.Err() != nil {
			break
		}
		if next == len(a.task.Prompts)-1 {
			a.markFinal()
		}
		err = a.run(ctx, next)
	}
	a.b.o.Control.end(a.task.ID)
	return errors.Join(err, a.unheard())
}

// markFinal says that the run that comes is the last one.
func (a *attempt) markFinal() {
	a.checks.Final()
	if a.output != nil {
		a.output.Final()
	}
}

// open makes the transcript, or goes on with the one that is there.
func (a *attempt) open() error {
	if a.resumed {
		return a.reopen()
	}
	return a.create()
}

func (a *attempt) create() (err error) {
	a.path = transcriptPath(a.b.o.Out, a.task.ID, a.n)
	if a.journal, err = journal.Create(a.path, a.b.journalOptions()); err != nil {
		return err
	}
	return a.writeHeader()
}

func (b *batch) journalOptions() journal.Options {
	return journal.Options{Sync: b.o.Sync, Mask: b.o.Mask.Line, Wrap: b.o.Wrap}
}

// writeHeader begins a transcript.
func (a *attempt) writeHeader() error {
	cwd, err := filepath.Abs(a.task.Path(a.task.Workdir))
	if err != nil {
		return fmt.Errorf("find the working folder: %w", err)
	}
	head := newHeader(a.b.o.Now(), cwd, a.b.o.Version)
	if err := a.journal.Append(&head); err != nil {
		return err
	}
	a.history.Apply(&head)
	a.header = &head
	return nil
}

// append makes an entry of the batch's own part of the history.
func (a *attempt) append(e *transcript.Entry) error {
	a.link(e)
	if err := a.journal.Append(e); err != nil {
		return err
	}
	a.leaf = e.ID
	a.history.Apply(e)
	return nil
}

// emit shows an event of the loop, and what it changed in the queues.
func (a *attempt) emit(e loop.Event) error {
	if err := a.stream.loop(e); err != nil {
		return err
	}
	if e.Type != loop.MessageUpdate {
		a.showQueue()
	}
	return nil
}

// queueBody is what queue_update says.
type queueBody struct {
	Steering  []string `json:"steering"`
	FollowUps []string `json:"followUp"`
}

// showQueue shows what waits to be said to the agent, if that is not what was
// shown last. A reader that is gone is noticed at the next event.
func (a *attempt) showQueue() {
	a.queue.Lock()
	defer a.queue.Unlock()
	var now queueBody
	now.Steering, now.FollowUps = a.conversation.Waiting()
	if slices.Equal(now.Steering, a.queued.Steering) && slices.Equal(now.FollowUps, a.queued.FollowUps) {
		return
	}
	a.queued = now
	_ = a.stream.own(QueueUpdate, now)
}

// notes shows what a person should know about the set-up.
func (a *attempt) notes() error {
	for _, text := range a.kit.notes {
		if err := a.stream.own(TaskNote, noteBody{text}); err != nil {
			return err
		}
	}
	return nil
}

// unheard says that messages from outside came too late: each was answered as
// a success when it was queued.
func (a *attempt) unheard() error {
	steering, followUps := a.conversation.Waiting()
	n := len(steering) + len(followUps)
	if n == 0 || a.b.o.Control == nil {
		return nil
	}
	return a.stream.own(TaskNote, noteBody{fmt.Sprintf("the task ended; queued messages that were not heard: %d", n)})
}

type noteBody struct {
	Message string `json:"message"`
}

// write appends an entry of the loop's.
func (a *attempt) write(e *transcript.Entry) error {
	if err := a.journal.Append(e); err != nil {
		return err
	}
	a.leaf = e.ID
	if e.Custom != nil && e.Custom.CustomType == transcript.CustomCall {
		var intent transcript.CallIntent
		a.wrote = a.wrote || e.Custom.Decode(&intent) != nil || !repeatable(intent.Effects)
	}
	return nil
}

// link gives an entry its place in the chain: behind the last one that is in
// the file. The history has one more after an append that failed, as of a line
// that is too long, and the journal may go on without it.
func (a *attempt) link(e *transcript.Entry) {
	e.ID, e.ParentID = a.ids.next(), a.leaf
	e.Timestamp = timestamp(a.b.o.Now())
}

// result is how the attempt ended.
func (a *attempt) result(ctx context.Context) Result {
	status, reason := a.stop.Status()
	if status == "" {
		status = policy.OK
	}
	res := Result{
		ID: a.task.ID, Status: status, Reason: reason, ExitCode: status.ExitCode(), Attempt: a.n,
		Turns: a.history.Turn(), Usage: usageOf(a.history.Usage()), CostUSD: a.cost(),
		DurationMs: max(a.b.o.Now().Sub(a.began).Milliseconds(), 0),
		TaskDigest: a.task.Digest(), File: a.task.File, Labels: a.task.Labels,
	}
	res.Assertions, res.Answer = a.assertions, a.last
	if a.output != nil && a.output.Answer() != nil {
		res.Answer = string(a.output.Answer())
	}
	if a.journal != nil {
		res.Transcript, res.Digest = filepath.Base(a.path), a.journal.Digest()
	}
	if a.limiter != nil {
		res.ToolCalls = a.limiter.ToolCalls()
	}
	var c coder
	if status == policy.Aborted && errors.As(context.Cause(ctx), &c) {
		res.ExitCode = c.ExitCode()
	}
	return res
}

// config is what every run of the task gives the loop.
func (a *attempt) config(run string) loop.Config {
	m := &a.task.Model
	c := loop.Config{
		Model:        a.model,
		ModelRef:     replay.ModelRef{Provider: m.Provider, ID: modelName(m)},
		Thinking:     m.Thinking,
		Params:       m.Params,
		Tools:        a.tools.Current(),
		Execution:    loop.Execution(a.task.Execution.Mode),
		MaxParallel:  a.task.Execution.MaxParallel,
		SteeringMode: loop.SteeringMode(a.task.Steering.Mode),
		Emit:         a.emit,
		Append:       a.write,
		Now:          a.b.o.Now,
		NewID:        a.ids.next,
		Run:          run,
	}
	policy.Install(&c, a.seams...)
	c.Steering, c.FollowUp = a.limiter.Gate(c.Steering), a.limiter.Gate(c.FollowUp)
	return c
}
