package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/mask"
	"github.com/turnlog/turnlog/loop/batch/progress"
	"github.com/turnlog/turnlog/loop/batch/render"
	"github.com/turnlog/turnlog/loop/batch/report"
	"github.com/turnlog/turnlog/replay/report/workflow"
)

// sinks are what sees the events: stdout, and whoever watches stderr. done
// takes what is drawn there away.
func (o *runOptions) sinks(secrets *mask.Mask) (all batch.Sinks, done func(), err error) {
	out, err := render.New(o.Format, o.Out, render.Options{Mask: secrets, Color: o.Color()})
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	watch, done := o.progress()
	if watch == nil {
		return batch.Sinks{out}, done, nil
	}
	return batch.Sinks{out, watch}, done, nil
}

// progress is what is shown on stderr while tasks run, nil for nothing: a block
// on a terminal while stdout is another place, since the two would write over
// each other; plain lines elsewhere, if they are asked for.
func (o *runOptions) progress() (batch.Sink, func()) {
	none := func() {}
	live := o.ErrTTY && !o.OutTTY && o.Env("TERM") != "dumb"
	switch {
	case o.Progress == progressNever, o.Progress == progressAuto && (o.Quiet || !live):
		return nil, none
	case !live:
		return &progress.Lines{W: o.Err}, none
	}
	block := &progress.Block{W: o.Err, Width: o.ErrWidth}
	return block, keepDrawing(block)
}

// keepDrawing lets the clocks of a block go on until the returned function is
// called.
func keepDrawing(b *progress.Block) (stop func()) {
	ticks, quit, gone := time.NewTicker(250*time.Millisecond), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-ticks.C:
				b.Tick()
			case <-quit:
				return
			}
		}
	}()
	return func() {
		ticks.Stop()
		close(quit)
		<-gone
		b.Close()
	}
}

// reportTo is a report and where it goes.
type reportTo struct {
	kind string
	path string // "" is where the kind usually goes
}

func reportKinds() []string { return report.Kinds() }

// parseReports reads KIND[=PATH]. What cannot be written is said now, not when
// hours of work are done.
func parseReports(flags []string) ([]reportTo, error) {
	var all []reportTo
	for _, f := range flags {
		kind, path, named := strings.Cut(f, "=")
		if !slices.Contains(report.Kinds(), kind) {
			return nil, usagef("--report %q: unknown kind", f).hint("known: %s; KIND=PATH says where it goes", strings.Join(report.Kinds(), ", "))
		}
		if named && path == "" {
			return nil, usagef("--report %q: the path is empty", f)
		}
		if info, err := os.Stat(filepath.Dir(path)); named && (err != nil || !info.IsDir()) {
			return nil, usagef("--report %s: no folder %s", f, filepath.Dir(path))
		}
		all = append(all, reportTo{kind, path})
	}
	return all, nil
}

// writeReports writes what was asked for about a batch that has ended.
func (o *runOptions) writeReports(all []reportTo, opts *batch.Options, sum *batch.Summary) error {
	var errs []error
	for _, r := range all {
		if err := o.writeReport(r, opts, sum); err != nil {
			errs = append(errs, fmt.Errorf("write the %s report: %w", r.kind, err))
		}
	}
	return errors.Join(errs...)
}

func (o *runOptions) writeReport(r reportTo, opts *batch.Options, sum *batch.Summary) (err error) {
	ro := report.Options{Mask: opts.Mask.Text}
	path := r.path
	var out io.Writer = o.Err // GitHub reads commands there as well, and stdout is for events
	if r.kind == report.GitHub {
		summary, room, err := workflow.OpenSummary(o.Env("GITHUB_STEP_SUMMARY"))
		if err != nil {
			return err
		}
		if summary != nil {
			defer summary.Close() // written at once by the report, which says what failed
			ro.StepSummary, ro.Room = summary, room
		}
	} else if path == "" {
		path = filepath.Join(opts.Out, r.kind+".xml")
	}
	if path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	return report.Write(r.kind, out, sum, ro)
}

// control obeys commands from stdin until the returned function is called. No
// other part of a run reads stdin. The input may never end, and nothing waits
// for it: it is read for as long as ctx lasts.
func (o *runOptions) control(ctx context.Context, sink batch.Sink, abort context.CancelCauseFunc) (*batch.Control, func()) {
	if o.Control == "" {
		return nil, func() {}
	}
	ctx, stop := context.WithCancel(ctx)
	c := batch.NewControl(sink, abort)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if err := c.Read(ctx, o.Input(ctx)); err != nil && ctx.Err() == nil && !errors.Is(err, batch.ErrClosed) {
			complain(o.Err, err)
		}
	}()
	return c, func() {
		stop()
		<-gone
	}
}
