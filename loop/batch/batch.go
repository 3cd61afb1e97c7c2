// Package batch runs tasks: each with a history, a transcript and a failure
// domain of its own, several at once, and one stream of events for all.
//
// The last event is batch_end, whatever happens in between. A task that ends
// is in the results file before its task_end is shown.
package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
)

// Options of a batch.
type Options struct {
	Tasks   []task.Task
	Out     string // folder of transcripts and results; made if needed
	Jobs    int    // tasks at once; 0 is one
	Sync    journal.Sync
	Version string // of turnlog, for headers and batch_start
	Sink    Sink   // takes all events; nil shows nothing
	Mask    *Masker

	// Seams for tests. Nil is the real thing.
	Now   func() time.Time
	Model func(*task.Task) (loop.Model, error)
	Tools func(*task.Task, []task.Tool) ([]loop.Tool, error)
	Wrap  func(journal.File) journal.File
}

// Summary is how a batch ended, as batch_end says it.
type Summary struct {
	Batch      string         `json:"batch"`
	Tasks      int            `json:"tasks"`
	Counts     map[string]int `json:"counts"` // by status, those that occur; encoded in order of their names
	Usage      Usage          `json:"usage"`
	CostUSD    float64        `json:"costUsd"`
	DurationMs int64          `json:"durationMs"`
	ExitCode   int            `json:"exitCode"`
	Error      string         `json:"error,omitempty"` // what ended the batch early

	Results []Result `json:"-"` // in the order of the tasks
}

// PlanError says why a batch was not started: two tasks with one id, a
// transcript that is there already, a model that cannot be made.
type PlanError struct{ Err error }

func (e *PlanError) Error() string { return e.Err.Error() }
func (e *PlanError) Unwrap() error { return e.Err }

// batch is a batch under way.
type batch struct {
	o      Options
	id     string
	began  time.Time
	plans  []plan
	pool   provider.Pool
	ledger *policy.Ledger // nil without a budget
	out    *results
}

// Run runs the tasks and returns when all have ended. A [*PlanError] means
// that nothing was started; other errors ended the batch early and stand in
// the summary too. Cancelling ctx aborts the tasks under way and skips the
// others; a cause with an ExitCode method gives the exit code.
func Run(ctx context.Context, o Options) (Summary, error) {
	b := &batch{o: o}
	if b.o.Now == nil {
		b.o.Now = time.Now
	}
	b.began = b.o.Now()
	b.id = uuid7(b.began)
	if err := b.prepare(); err != nil {
		return Summary{}, err
	}
	return b.run(ctx)
}

// startBody is what batch_start says.
type startBody struct {
	Version   int      `json:"version"` // of the events
	Generator string   `json:"generator"`
	Batch     string   `json:"batch"`
	Out       string   `json:"out"`
	Jobs      int      `json:"jobs"`
	Tasks     []string `json:"tasks"`
	Time      string   `json:"time"`
}

// eventsVersion is the version of the events.
const eventsVersion = 1

// run shows the start, runs all, and shows the end.
func (b *batch) run(ctx context.Context) (Summary, error) {
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	start := startBody{
		Version: eventsVersion, Generator: "turnlog " + b.o.Version, Batch: b.id,
		Out: b.o.Out, Jobs: max(b.o.Jobs, 1), Tasks: []string{}, Time: timestamp(b.began),
	}
	for _, p := range b.plans {
		start.Tasks = append(start.Tasks, p.task.ID)
	}
	if err := b.show(Event{Type: BatchStart, Body: start}); err != nil {
		abort(err)
	}
	sum := Summary{Batch: b.id, Tasks: len(b.plans), Results: b.runAll(ctx, abort)}
	early := context.Cause(ctx)
	if err := b.out.close(); err != nil {
		early = errors.Join(early, err)
	}
	b.summarize(&sum, early)
	if err := b.show(Event{Type: BatchEnd, Body: sum}); err != nil {
		early = errors.Join(early, err)
		sum.ExitCode = exitCode(sum.Results, early)
	}
	return sum, early
}

func (b *batch) show(e Event) error {
	if b.o.Sink == nil {
		return nil
	}
	return b.o.Sink.Event(&e)
}

// runAll runs the tasks, Jobs at once, and returns the results in task order.
func (b *batch) runAll(ctx context.Context, abort context.CancelCauseFunc) []Result {
	all := make([]Result, len(b.plans))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(max(b.o.Jobs, 1), len(b.plans)) {
		workers.Go(func() {
			for i := range next {
				all[i] = b.runTask(ctx, abort, &b.plans[i])
			}
		})
	}
	for i := range b.plans {
		next <- i
	}
	close(next)
	workers.Wait()
	return all
}

// runTask runs one task and reports its end. A reader that is gone and a
// results file that takes nothing more end the batch.
func (b *batch) runTask(ctx context.Context, abort context.CancelCauseFunc, p *plan) Result {
	s := &stream{task: p.task.ID, sink: b.o.Sink, now: b.o.Now}
	var res Result
	if ctx.Err() != nil {
		res = Result{ID: p.task.ID, Status: policy.Skipped, Reason: reasonOf(context.Cause(ctx)), File: p.task.File}
	} else {
		res = runAttempt(ctx, b, p, s)
	}
	if err := b.out.add(res); err != nil {
		abort(err)
	}
	if err := s.own(TaskEnd, res); err != nil {
		abort(err)
	}
	return res
}

// summarize counts.
func (b *batch) summarize(sum *Summary, early error) {
	sum.Counts = map[string]int{}
	for i := range sum.Results {
		r := &sum.Results[i]
		sum.Counts[string(r.Status)]++
		sum.Usage.add(r.Usage)
		sum.CostUSD += r.CostUSD
	}
	if early != nil {
		sum.Error = early.Error()
	}
	sum.DurationMs = b.o.Now().Sub(b.began).Milliseconds()
	sum.ExitCode = exitCode(sum.Results, early)
}

// coder is a cause that knows its exit code: a signal.
type coder interface{ ExitCode() int }

// exitCode is the code of a batch: that of a signal, or the one that its
// failed tasks share, else 1. Tasks that never started because of what ended
// the batch don't count.
func exitCode(rs []Result, early error) int {
	var c coder
	if errors.As(early, &c) {
		return c.ExitCode()
	}
	if early != nil {
		return policy.Error.ExitCode()
	}
	code := 0
	for i := range rs {
		switch rc := rs[i].ExitCode; {
		case rc == 0 || rc == code:
		case code == 0:
			code = rc
		default:
			return policy.Failed.ExitCode()
		}
	}
	return code
}

// reasonOf says why ctx ended.
func reasonOf(cause error) string {
	if cause == nil {
		return ""
	}
	return fmt.Sprint(cause)
}
