// Package batch runs tasks: each with a history, a transcript and a failure
// domain of its own, several at once, and one stream of events for all.
//
// The last event is batch_end, whatever happens in between. A task that ends
// is in the results file before its task_end is shown, so a crash loses no
// finished task; [Options.Resume] goes on with the others.
package batch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/mask"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/batch/session"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool/builtin"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Options of a batch.
type Options struct {
	Files   []*task.File
	Out     string // folder of transcripts and results; made if needed
	ID      string // of the batch; "" makes one
	Version string // of turnlog, for headers and batch_start
	Sync    journal.Sync
	Sink    Sink // takes all events; nil shows nothing
	Mask    *mask.Mask

	Jobs     int         // tasks at once; 0 is what the files say, or one
	Budget   task.Budget // of all tasks; zero fields are what the files say
	FailFast bool        // start no task after one that did not end ok

	Only  string // pattern of the ids of the tasks to run; "" is all
	Shard Shard

	Resume      bool // keep what is finished, go on with what is not
	RetryErrors bool // with Resume: tasks that ended as error run again

	Control *Control // takes commands for tasks; nil takes none

	Builtins builtin.Table // the tools of turnlog's own; nil is all of them

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
	Counts     map[string]int `json:"counts"`         // by status, those that occur; encoded in order of their names
	Kept       int            `json:"kept,omitempty"` // of the tasks, those that were finished before
	Usage      results.Usage  `json:"usage"`
	CostUSD    float64        `json:"costUsd"`
	DurationMs int64          `json:"durationMs"`
	ExitCode   int            `json:"exitCode"`
	Error      string         `json:"error,omitempty"` // what ended the batch early

	Results []results.Result `json:"-"` // in the order of the tasks
}

// PlanError says why a batch was not started: two tasks with one id, a
// transcript that is there already, a model that cannot be made.
type PlanError struct{ Err error }

func (e *PlanError) Error() string { return e.Err.Error() }
func (e *PlanError) Unwrap() error { return e.Err }

// batch is a batch under way.
type batch struct {
	o      Options
	began  time.Time
	plans  []plan
	pool   provider.Pool
	ledger *policy.Ledger // nil without a budget
	out    *results.File

	mu     sync.Mutex
	failed string // the first task that did not end ok
}

// Run runs the tasks and returns when all have ended. A [*PlanError] means
// that nothing was started; other errors ended the batch early and stand in
// the summary too. Cancelling ctx aborts the tasks under way and skips the
// others; a cause with an ExitCode method gives the exit code.
func Run(ctx context.Context, o Options) (Summary, error) {
	b := newBatch(o)
	if err := b.prepare(); err != nil {
		return Summary{}, err
	}
	if err := b.open(); err != nil {
		return Summary{}, err
	}
	defer b.pool.Close()
	return b.run(ctx)
}

func newBatch(o Options) *batch {
	b := &batch{o: o}
	if b.o.Now == nil {
		b.o.Now = time.Now
	}
	b.began = b.o.Now()
	if b.o.ID == "" {
		b.o.ID = NewID(b.began)
	}
	for _, f := range o.Files {
		b.o.Jobs = smallest(o.Jobs, b.o.Jobs, f.Batch.Concurrency)
		b.o.Budget.CostUSD = smallest(o.Budget.CostUSD, b.o.Budget.CostUSD, f.Batch.Budget.CostUSD)
		b.o.Budget.Tokens = smallest(o.Budget.Tokens, b.o.Budget.Tokens, f.Batch.Budget.Tokens)
		b.o.Budget.Wall = smallest(o.Budget.Wall, b.o.Budget.Wall, f.Batch.Budget.Wall)
	}
	b.o.Jobs = max(b.o.Jobs, 1)
	if u := b.o.Budget; u.CostUSD > 0 || u.Tokens > 0 {
		b.ledger = policy.NewLedger(u.CostUSD, u.Tokens)
	}
	return b
}

// smallest is the caller's value if there is one, else the smaller of two
// that are set: files that run together share the strictest.
func smallest[T int | int64 | float64 | time.Duration](set, a, b T) T {
	switch {
	case set != 0:
		return set
	case a == 0:
		return b
	case b == 0:
		return a
	}
	return min(a, b)
}

// NewID makes the id of a batch.
func NewID(now time.Time) string { return session.NewID(now) }

// startBody is what batch_start says.
type startBody struct {
	Version   int      `json:"version"` // of the events
	Generator string   `json:"generator"`
	Batch     string   `json:"batch"`
	Out       string   `json:"out"`
	Jobs      int      `json:"jobs"`
	Shard     string   `json:"shard,omitempty"`
	Tasks     []string `json:"tasks"`
	Kept      []string `json:"kept,omitempty"` // of the tasks, those that were finished before
	Time      string   `json:"time"`
}

// eventsVersion is the version of the events.
const eventsVersion = 1

// run shows the start, runs all, and shows the end.
func (b *batch) run(ctx context.Context) (Summary, error) {
	if wall := b.o.Budget.Wall; wall > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, wall, &policy.TimeoutError{Limit: "the budget of the batch: wall " + wall.String()})
		defer stop()
	}
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	start := startBody{
		Version: eventsVersion, Generator: "turnlog " + b.o.Version, Batch: b.o.ID,
		Out: b.o.Out, Jobs: b.o.Jobs, Shard: b.o.Shard.String(), Tasks: []string{}, Time: transcript.Timestamp(b.began),
	}
	for _, p := range b.plans {
		start.Tasks = append(start.Tasks, p.task.ID)
		if p.kept != nil {
			start.Kept = append(start.Kept, p.task.ID)
		}
	}
	if err := b.show(Event{Type: BatchStart, Body: start}); err != nil {
		abort(err)
	}
	b.o.Control.open()
	sum := Summary{Batch: b.o.ID, Tasks: len(b.plans), Results: b.runAll(ctx, abort)}
	b.o.Control.close()
	early := earlyEnd(ctx)
	if err := b.out.Close(); err != nil {
		early = errors.Join(early, err)
	}
	b.summarize(&sum, early)
	if err := b.show(Event{Type: BatchEnd, Body: sum}); err != nil && early == nil {
		early = err
		sum.ExitCode = exitCode(sum.Results, early)
	}
	return sum, early
}

// earlyEnd is what ended the batch before its time. A budget of time is no
// failure of the batch: its tasks say what became of them.
func earlyEnd(ctx context.Context) error {
	var timeout *policy.TimeoutError
	if cause := context.Cause(ctx); !errors.As(cause, &timeout) {
		return cause
	}
	return nil
}

func (b *batch) show(e Event) error {
	if b.o.Sink == nil {
		return nil
	}
	return b.o.Sink.Event(&e)
}

// runAll runs the tasks, Jobs at once, and returns the results in task order.
func (b *batch) runAll(ctx context.Context, abort context.CancelCauseFunc) []results.Result {
	all := make([]results.Result, len(b.plans))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(b.o.Jobs, len(b.plans)) {
		workers.Go(func() {
			for i := range next {
				all[i] = b.runTask(ctx, abort, &b.plans[i])
			}
		})
	}
	for i := range b.plans {
		if p := &b.plans[i]; p.kept != nil {
			all[i] = *p.kept
			all[i].Answer = p.answer(b.o.Out)
			continue
		}
		next <- i
	}
	close(next)
	workers.Wait()
	return all
}

// runTask runs one task, with its retries, and reports its end. A reader that
// is gone and a results file that takes nothing more end the batch.
func (b *batch) runTask(ctx context.Context, abort context.CancelCauseFunc, p *plan) results.Result {
	s := &stream{task: p.task.ID, sink: b.o.Sink, now: b.o.Now, held: mask.Deltas{Mask: b.o.Mask}}
	res := results.New(p.task, policy.Skipped)
	var skipped bool
	if res.Reason, res.ExitCode, skipped = b.skip(ctx); !skipped {
		res = b.attempts(ctx, abort, p, s)
	}
	if err := b.out.Add(res); err != nil {
		abort(err)
	}
	b.note(&res)
	if err := s.own(TaskEnd, res); err != nil {
		abort(err)
	}
	return res
}

// attempts runs a task until it is not a failure of its provider, or may not
// be repeated.
func (b *batch) attempts(ctx context.Context, abort context.CancelCauseFunc, p *plan, s *stream) results.Result {
	a := &attempt{b: b, task: p.task, stream: s, n: p.attempt}
	for tries := 0; ; tries++ {
		res := a.main(ctx, p.resume && tries == 0)
		again := res.Status == policy.Error && a.unanswered && !a.session.Wrote() && tries < p.retries
		if !again || ctx.Err() != nil {
			return res
		}
		if err := b.out.Add(res); err != nil {
			abort(err)
		}
		a = &attempt{b: b, task: p.task, stream: s, n: a.n + 1}
	}
}

// skip says whether a task does not start any more, why, and what that exits
// with.
func (b *batch) skip(ctx context.Context) (reason string, code int, skipped bool) {
	b.mu.Lock()
	failed := b.failed
	b.mu.Unlock()
	var timeout *policy.TimeoutError
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &timeout):
		return timeout.Limit, policy.Limit.ExitCode(), true
	case cause != nil:
		return cause.Error(), 0, true
	case b.ledger != nil && b.ledger.Empty():
		return "the budget of the batch is used up", policy.Limit.ExitCode(), true
	case b.o.FailFast && failed != "":
		return "fail-fast: " + failed + " did not end ok", 0, true
	}
	return "", 0, false
}

// note remembers the first task that did not end ok.
func (b *batch) note(r *results.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Status != policy.OK && r.Status != policy.Skipped && b.failed == "" {
		b.failed = r.ID
	}
}
