package cmd

import (
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/report"
	"github.com/turnlog/turnlog/replay/verify"
)

// verification is one call of verify at work: what it checks with, and what
// it has found so far.
type verification struct {
	o       *verifyOptions
	rules   []verify.Rule
	options verify.Options
	failOn  verify.Severity // "" never fails
	anchors *anchors

	render   report.Renderer
	summary  io.Closer // of the GitHub step, nil if there is none
	progress *fileProgress
	known    *baseline
	inputs   map[string]input

	totals report.Totals
	code   int
}

func newVerification(o *verifyOptions, inputs []input, rules []verify.Rule, options verify.Options) (*verification, error) {
	v := &verification{o: o, rules: rules, options: options, inputs: make(map[string]input, len(inputs))}
	for _, in := range inputs {
		v.inputs[in.name] = in
	}
	if o.FailOn != "never" {
		v.failOn = verify.Severity(o.FailOn)
	}
	var err error
	if v.anchors, err = readAnchors(o.Anchor, inputs); err != nil {
		return nil, err
	}
	if v.known, err = openBaseline(o.Baseline, o.WriteBaseline); err != nil {
		return nil, err
	}
	meta := report.Meta{Version: readBuild().Version, Rules: rules, FailOn: v.failOn, Color: o.Color()}
	if o.Format == "github" {
		if v.summary, err = stepSummary(&meta, o.Env("GITHUB_STEP_SUMMARY")); err != nil {
			return nil, err
		}
	}
	if v.render, err = report.New(o.Format, o.Out, meta); err != nil {
		return nil, usagef("%w", err)
	}
	v.progress = newProgress(o.Streams, o.Progress, len(inputs))
	return v, nil
}

func (v *verification) close() {
	v.progress.clear()
	if v.summary != nil {
		v.summary.Close() // written at once by the renderer, which reports errors
	}
}

// report renders one file and counts it.
func (v *verification) report(f report.File) error {
	f.Findings = v.known.filter(f.File, f.Findings)
	v.judge(v.inputs[f.File], f)
	v.totals.Add(f)
	v.progress.step(v.totals)
	return v.render.File(f)
}

func (v *verification) finish() error {
	for _, f := range v.anchors.missing(v.o.Args) {
		if err := v.report(f); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	v.progress.clear()
	if err := v.render.Close(v.totals); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := v.known.finish(v.o.Err, v.totals.Failed == 0); err != nil {
		v.complain(max(v.code, exitUsage), err)
	}
	if v.code != exitOK {
		return outcome(v.code)
	}
	return nil
}

// stepSummary opens the file that GitHub shows as a step's summary.
func stepSummary(m *report.Meta, name string) (io.Closer, error) {
	f, room, err := openStepSummary(name)
	if f == nil {
		return nil, err
	}
	m.StepSummary, m.Room = f, room
	return f, nil
}
