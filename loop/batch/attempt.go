package batch

import (
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
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// attempt is one try at a task: one history, one transcript.
type attempt struct {
	b      *batch
	plan   *plan
	task   *task.Task
	stream *stream
	began  time.Time

	journal *journal.Journal
	history *replay.State
	ids     ids
	runs    int // turnlog.run entries of the file

	kit          toolkit
	stop         policy.Stop
	limiter      *policy.Limiter
	clock        *policy.Clock
	tools        *policy.ToolSet
	conversation *policy.Conversation
	output       *policy.Output // nil if no answer is required
	checks       *policy.Checks
	seams        []policy.Policy

	calls      int    // tool calls of earlier processes
	last       string // text of the last answer
	assertions []Assertion
}

// runAttempt runs a task and says how it ended. A panic is the failure of
// this task alone.
func runAttempt(ctx context.Context, b *batch, p *plan, s *stream) (res Result) {
	a := &attempt{b: b, plan: p, task: p.task, stream: s, began: b.o.Now(), history: &replay.State{}, ids: ids{}}
	a.kit = toolkit{task: p.task, override: b.o.Tools}
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	defer func() {
		if v := recover(); v != nil {
			a.stop.Set(policy.Error, fmt.Sprintf("internal panic: %v", v))
			fmt.Fprintf(os.Stderr, "turnlog: error: task %s: internal panic: %v\n%s", p.task.ID, v, debug.Stack())
		}
		if err := a.close(); err != nil {
			a.stop.Set(policy.Error, err.Error())
		}
		res = a.result(ctx)
	}()
	limits := p.task.Finish.Limits
	a.clock = policy.StartClock(limits.Wall, limits.Idle, &a.stop, abort)
	if err := a.play(ctx); err != nil {
		a.fail(ctx, err)
	}
	a.finish(ctx)
	return res
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
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), ErrClosed) {
		a.stop.Set(policy.Aborted, reasonOf(context.Cause(ctx)))
	}
	a.stop.Set(policy.Error, err.Error())
}

// taskStartBody is what task_start says.
type taskStartBody struct {
	Transcript string          `json:"transcript"`
	File       string          `json:"file"`
	TaskDigest string          `json:"taskDigest"`
	Attempt    int             `json:"attempt"`
	Session    json.RawMessage `json:"session"` // the transcript's first line
}

// play opens the transcript and plays the prompts, one run each.
func (a *attempt) play(ctx context.Context) error {
	head, err := a.open()
	if err != nil {
		return err
	}
	start := taskStartBody{
		Transcript: a.plan.path, File: a.task.File, TaskDigest: a.task.Digest(), Attempt: 1,
		Session: transcript.AppendEntry(nil, head),
	}
	if err := a.stream.own(TaskStart, start); err != nil {
		return err
	}
	if err := a.equip(ctx); err != nil {
		return err
	}
	for i := range a.task.Prompts {
		if !a.limiter.Room() || ctx.Err() != nil {
			break
		}
		if i == len(a.task.Prompts)-1 {
			a.checks.Final()
			if a.output != nil {
				a.output.Final()
			}
		}
		if err := a.run(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// open creates the transcript with its header.
func (a *attempt) open() (*transcript.Entry, error) {
	cwd, err := filepath.Abs(a.task.Path(a.task.Workdir))
	if err != nil {
		return nil, fmt.Errorf("find the working folder: %w", err)
	}
	a.journal, err = journal.Create(a.plan.path, journal.Options{Sync: a.b.o.Sync, Mask: a.b.o.Mask.Mask, Wrap: a.b.o.Wrap})
	if err != nil {
		return nil, err
	}
	head := newHeader(a.b.o.Now(), cwd, a.b.o.Version)
	if err := a.journal.Append(&head); err != nil {
		return nil, err
	}
	a.history.Apply(&head)
	return &head, nil
}

// append makes an entry of the batch's own part of the history.
func (a *attempt) append(e *transcript.Entry) error {
	a.link(e)
	if err := a.journal.Append(e); err != nil {
		return err
	}
	a.history.Apply(e)
	return nil
}

// link gives an entry its place in the chain.
func (a *attempt) link(e *transcript.Entry) {
	e.ID, e.ParentID = a.ids.next(), a.history.Leaf()
	e.Timestamp = timestamp(a.b.o.Now())
}

// result is how the attempt ended.
func (a *attempt) result(ctx context.Context) Result {
	status, reason := a.stop.Status()
	if status == "" {
		status = policy.OK
	}
	res := Result{
		ID: a.task.ID, Status: status, Reason: reason, ExitCode: status.ExitCode(), Attempt: 1,
		Turns: a.history.Turn(), Usage: usageOf(a.history.Usage()), CostUSD: a.cost(),
		DurationMs: a.b.o.Now().Sub(a.began).Milliseconds(),
		TaskDigest: a.task.Digest(), File: a.task.File,
	}
	res.Assertions = a.assertions
	if a.journal != nil {
		res.Transcript, res.Digest = filepath.Base(a.plan.path), a.journal.Digest()
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
		Model:        a.plan.model,
		ModelRef:     replay.ModelRef{Provider: m.Provider, ID: modelName(m)},
		Thinking:     m.Thinking,
		Params:       m.Params,
		Tools:        a.tools.Current(),
		Execution:    loop.Execution(a.task.Execution.Mode),
		MaxParallel:  a.task.Execution.MaxParallel,
		SteeringMode: loop.SteeringMode(a.task.Steering.Mode),
		Emit:         a.stream.loop,
		Append:       a.journal.Append,
		Now:          a.b.o.Now,
		NewID:        a.ids.next,
		Run:          run,
	}
	policy.Install(&c, a.seams...)
	c.Steering, c.FollowUp = a.limiter.Gate(c.Steering), a.limiter.Gate(c.FollowUp)
	return c
}
