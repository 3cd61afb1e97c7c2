package batch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
)

// plan is a task that is ready to start.
type plan struct {
	task  *task.Task
	model loop.Model
	path  string // of its transcript
}

// prepare finds everything that can be wrong before anything is started.
func (b *batch) prepare() error {
	byID := map[string]*task.Task{}
	var wrong []error
	for i := range b.o.Tasks {
		t := &b.o.Tasks[i]
		if first := byID[t.ID]; first != nil {
			wrong = append(wrong, fmt.Errorf("%s: the task id %q is taken by %s", t.File, t.ID, first.File))
			continue
		}
		byID[t.ID] = t
		p, err := b.plan(t)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		b.plans = append(b.plans, p)
	}
	if len(wrong) > 0 {
		return &PlanError{errors.Join(wrong...)}
	}
	if err := os.MkdirAll(b.o.Out, 0o700); err != nil {
		return fmt.Errorf("make the output folder: %w", err)
	}
	head := resultsHead{Type: "results", Version: resultsVersion, Batch: b.id, Started: timestamp(b.began)}
	var err error
	b.out, err = openResults(filepath.Join(b.o.Out, resultsName(Shard{})), head, b.o.Mask.Mask)
	return err
}

// plan checks that one task can start.
func (b *batch) plan(t *task.Task) (plan, error) {
	p := plan{task: t, path: filepath.Join(b.o.Out, t.ID+".jsonl")}
	if err := journal.Locked(p.path); err != nil {
		return plan{}, err
	}
	if _, err := os.Lstat(p.path); !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return plan{}, err
		}
		return plan{}, fmt.Errorf("%s is there already: --resume goes on with it, another --out starts anew", p.path)
	}
	var err error
	if p.model, err = b.newModel(t); err != nil {
		return plan{}, fmt.Errorf("%s:%d:%d: model: %w", t.File, max(t.Model.Place.Line, 1), max(t.Model.Place.Column, 1), err)
	}
	return p, nil
}
