package batch

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/turnlog/turnlog/loop/batch/assertion"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/batch/session"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// plan is a task that is ready to start.
type plan struct {
	task    *task.Task
	retries int
	attempt int             // the one to run
	resume  bool            // that attempt has a transcript to go on with
	kept    *results.Result // it is finished: nothing is to be done
}

// prepare finds everything that can be wrong before anything is started.
func (b *batch) prepare() error {
	var finished map[string]results.Result // by an earlier batch in the same folder
	if b.o.Resume {
		var err error
		if finished, err = results.Read(b.o.Out); err != nil {
			return err
		}
	}
	var wrong mistakes
	if err := task.Unique(b.o.Files...); err != nil {
		wrong.add(err)
	}
	for _, f := range b.o.Files {
		for i := range f.Tasks {
			t := &f.Tasks[i]
			if !b.o.chosen(t.ID) {
				continue
			}
			p, err := b.plan(t, finished)
			if err != nil {
				wrong.add(err)
				continue
			}
			p.retries = f.Batch.Retries
			b.plans = append(b.plans, p)
		}
	}
	if len(b.plans) == 0 && b.o.Only != "" && b.o.Shard.N == 0 && len(wrong) == 0 {
		wrong = append(wrong, fmt.Errorf("no task id matches %q", b.o.Only))
	}
	if len(wrong) > 0 {
		return &PlanError{errors.Join(wrong...)}
	}
	for i := range b.plans {
		if kept := b.plans[i].kept; kept != nil && b.ledger != nil {
			b.ledger.Charge(policy.Spend{Tokens: kept.Usage.TotalTokens, Output: kept.Usage.Output, USD: kept.CostUSD})
		}
	}
	return nil
}

// mistakes are what is wrong with tasks. A file of many tasks has a mistake
// once.
type mistakes []error

func (m *mistakes) add(err error) {
	if !slices.ContainsFunc(*m, func(e error) bool { return e.Error() == err.Error() }) {
		*m = append(*m, err)
	}
}

// chosen reports whether a task is part of the batch.
func (o *Options) chosen(id string) bool {
	ok, err := path.Match(o.Only, id)
	return (o.Only == "" || ok && err == nil) && o.Shard.Has(id)
}

// Count counts the tasks that are part of the batch.
func (o *Options) Count() (n int) {
	for _, f := range o.Files {
		for i := range f.Tasks {
			if o.chosen(f.Tasks[i].ID) {
				n++
			}
		}
	}
	return n
}

// plan checks that one task can start.
func (b *batch) plan(t *task.Task, finished map[string]results.Result) (plan, error) {
	p := plan{task: t, attempt: 1}
	for i := range t.Assert {
		if err := assertion.Supported(&t.Assert[i], t.Path); err != nil {
			return plan{}, at(t, t.Assert[i].Place, err)
		}
	}
	if _, err := b.newModel(t, nil); err != nil {
		return plan{}, at(t, t.Model.Place, fmt.Errorf("model: %w", err))
	}
	if err := b.priced(t); err != nil {
		return plan{}, err
	}
	last, err := session.Attempts(b.o.Out, t.ID)
	if err != nil {
		return p, err
	}
	name := session.Path(b.o.Out, t.ID, max(last, 1))
	if err := journal.Locked(name); err != nil {
		return plan{}, err
	}
	res, ended := finished[t.ID]
	ended = ended && res.TaskDigest == t.Digest() && res.Status != policy.Aborted && res.Status != policy.Skipped
	switch {
	case ended && (res.Status != policy.Error || !b.o.RetryErrors):
		p.kept = &res
	case last > 0 && !b.o.Resume:
		return plan{}, fmt.Errorf("%s is there already: --resume goes on with it, another --out starts anew", name)
	case ended:
		p.attempt = last + 1
	case last > 0:
		p.attempt, p.resume = last, true
	}
	return p, nil
}

// priced reports a bound on money that nobody could keep: without a price all
// is free, as far as anyone can count. Task files are checked when they are
// read, but flags and budgets come later.
func (b *batch) priced(t *task.Task) error {
	bounded := t.Finish.Limits.CostUSD > 0 || b.o.Budget.CostUSD > 0
	if bounded && t.Model.Provider == task.OpenAI && t.Model.Price == nil {
		return at(t, t.Model.Place, errors.New("the cost is limited, but the model has no price: give it price: { input: …, output: … }"))
	}
	return nil
}

func at(t *task.Task, p task.Place, err error) error {
	return fmt.Errorf("%s:%d:%d: %w", t.File, max(p.Line, 1), max(p.Column, 1), err)
}

// open makes the output folder and its results file.
func (b *batch) open() error {
	if err := os.MkdirAll(b.o.Out, 0o700); err != nil {
		return fmt.Errorf("make the output folder: %w", err)
	}
	var err error
	b.out, err = results.Open(b.o.Out, results.Batch{
		ID: b.o.ID, Started: transcript.Timestamp(b.began), Shard: b.o.Shard.String(),
	}, b.o.Mask.Line)
	return err
}

// answer reads what a finished task answered out of its transcript, "" if that
// is gone.
func (p *plan) answer(out string) string {
	f, err := os.Open(filepath.Join(out, filepath.Base(p.kept.Transcript)))
	if err != nil {
		return ""
	}
	defer f.Close()
	tree, err := replay.Read(transcript.Lines(f, transcript.Options{}))
	if err != nil {
		return ""
	}
	messages := tree.State(len(tree.Entries) - 1).Messages()
	if p.task.Finish.Output != nil {
		if o, err := policy.NewOutput(*p.task.Finish.Output, &policy.Stop{}); err == nil {
			o.Restore(messages)
			if answer := o.Answer(); answer != nil {
				return string(answer)
			}
		}
	}
	return lastText(messages)
}

// outTime is the form of the default output folder's name.
const outTime = "20060102T150405Z"

// NewFolder makes the default output folder. It has the time in its name, and
// a number if two runs start within a second.
func NewFolder(now time.Time) (string, error) {
	if err := os.MkdirAll("runs", 0o700); err != nil {
		return "", fmt.Errorf("make the output folder: %w", err)
	}
	base := filepath.Join("runs", now.UTC().Format(outTime))
	for n := 1; ; n++ {
		folder := base
		if n > 1 {
			folder = fmt.Sprintf("%s-%d", base, n)
		}
		err := os.Mkdir(folder, 0o700)
		if err == nil {
			return folder, nil
		}
		if !errors.Is(err, os.ErrExist) {
			return "", fmt.Errorf("make the output folder: %w", err)
		}
	}
}

// Planned is what a batch would do with one task.
type Planned struct {
	ID         string   `json:"id"`
	File       string   `json:"file"`
	Action     string   `json:"action"` // run resume retry keep
	Provider   string   `json:"provider"`
	Model      string   `json:"model"`
	Transcript string   `json:"transcript"`
	TaskDigest string   `json:"taskDigest"`
	MaxCostUSD *float64 `json:"maxCostUsd"` // null: nothing bounds it

	Labels map[string]string `json:"labels,omitempty"`
}

// Plan checks everything that Run does before it starts, and says what it
// would do, and what that can cost at most; nil if nothing bounds it. Nothing
// is started or written.
func Plan(o Options) (tasks []Planned, maxCostUSD *float64, err error) {
	b := newBatch(o)
	if err := b.prepare(); err != nil {
		return nil, nil, err
	}
	sum := 0.0
	for i := range b.plans {
		p := &b.plans[i]
		most := p.mostUSD()
		sum += most
		tasks = append(tasks, Planned{
			ID: p.task.ID, File: p.task.File, Action: p.action(),
			Provider: p.task.Model.Provider, Model: modelName(&p.task.Model),
			Transcript: session.Path(b.o.Out, p.task.ID, p.attempt),
			TaskDigest: p.task.Digest(), MaxCostUSD: b.bound(most), Labels: p.task.Labels,
		})
	}
	return tasks, b.bound(sum), nil
}

func (p *plan) action() string {
	switch {
	case p.kept != nil:
		return "keep"
	case p.resume:
		return "resume"
	case p.attempt > 1:
		return "retry"
	}
	return "run"
}

// mostUSD is what a task can cost at most. A model without a price is not known
// to be free, a scripted one is.
func (p *plan) mostUSD() float64 {
	m, l := &p.task.Model, p.task.Finish.Limits
	switch {
	case p.kept != nil || m.Provider != task.OpenAI:
		return 0
	case l.CostUSD > 0:
		return l.CostUSD * float64(1+p.retries)
	case l.Tokens > 0 && m.Price != nil:
		dearest := max(m.Price.Input, m.Price.Output, m.Price.CacheRead, m.Price.CacheWrite)
		return float64(l.Tokens) * dearest / 1e6 * float64(1+p.retries)
	}
	return math.Inf(1)
}

// bound is a cost that the budget of the batch bounds too, nil if nothing does.
func (b *batch) bound(usd float64) *float64 {
	if budget := b.o.Budget.CostUSD; budget > 0 {
		usd = min(usd, budget)
	}
	if math.IsInf(usd, 1) {
		return nil
	}
	return &usd
}
