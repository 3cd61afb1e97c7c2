package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/progress"
	"github.com/turnlog/turnlog/loop/batch/render"
	"github.com/turnlog/turnlog/loop/batch/report"
)

// sinks are what sees the events: stdout, and whoever watches stderr. done
// takes what is drawn there away.
func (o *runOptions) sinks() (all batch.Sinks, done func(), err error) {
	out, err := render.New(o.Format, o.Out, render.Options{Mask: o.Batch.Mask, Color: o.Color()})
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	all, done = batch.Sinks{out}, func() {}
	// A block is drawn on a terminal while stdout is another place, since the two
	// would write over each other; plain lines elsewhere, if they are asked for.
	live := o.ErrTTY && !o.OutTTY && o.Env("TERM") != "dumb"
	switch {
	case o.Progress == progressNever, o.Progress == progressAuto && (o.Quiet || !live):
	case live:
		block := &progress.Block{W: o.Err, Width: o.ErrWidth}
		all, done = append(all, block), block.Watch()
	default:
		all = append(all, &progress.Lines{W: o.Err})
	}
	return all, done, nil
}

// reports are those that --report asks for.
func (o *runOptions) reports() (all []report.Target, err error) {
	for _, f := range o.Reports {
		t, err := report.ParseTarget(f)
		u := usagef("--report %w", err)
		switch {
		case errors.Is(err, report.ErrUnknownKind):
			return nil, u.hint("known: %s; KIND=PATH says where it goes", strings.Join(report.Kinds(), ", "))
		case err != nil:
			return nil, u
		}
		all = append(all, t)
	}
	return all, nil
}

// writeReports writes what was asked for about a batch that has ended.
func (o *runOptions) writeReports(all []report.Target, sum *batch.Summary) error {
	// GitHub reads commands on stderr as well, and stdout is for events.
	place := report.Place{Folder: o.Batch.Out, Log: o.Err, StepSummary: o.Env("GITHUB_STEP_SUMMARY")}
	var errs []error
	for _, t := range all {
		errs = append(errs, t.Write(sum, place, o.Batch.Mask.Text))
	}
	return errors.Join(errs...)
}

// note says on stderr what became of the tasks, those that did not end well by
// name.
func (o *runOptions) note(sum *batch.Summary) {
	const most = 20
	shown := 0
	for i := range sum.Results {
		r := &sum.Results[i]
		if r.Status == policy.OK || r.Status == policy.Skipped {
			continue
		}
		if shown++; shown <= most {
			fmt.Fprintf(o.Err, "turnlog: task %s: %s: %s\n", r.ID, r.Status, printable(cmp.Or(o.Batch.Mask.Text(r.Reason), "no reason given")))
		}
	}
	if shown > most {
		fmt.Fprintf(o.Err, "turnlog: %d more tasks did not end ok\n", shown-most)
	}
	fmt.Fprintf(o.Err, "turnlog: %d of %d tasks ok, transcripts in %s\n", sum.Counts[string(policy.OK)], sum.Tasks, o.Batch.Out)
}
