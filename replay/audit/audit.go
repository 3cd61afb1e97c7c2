// Package audit verifies many files: side by side, against digests that were
// kept elsewhere and findings that are accepted, with one report in the order
// of the files.
package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/input"
	"github.com/turnlog/turnlog/replay/report"
	"github.com/turnlog/turnlog/replay/verify"
)

// Options of an audit. Those without a remark are needed.
type Options struct {
	Stdin    io.Reader
	Rules    []verify.Rule
	Verify   verify.Options  // Workers and Anchor are the audit's to set
	FailOn   verify.Severity // the least severity that counts; "" is none
	Anchors  *Anchors
	Baseline *Baseline
	Render   report.Renderer

	Done    func(report.Totals) // hears of each file that was reported
	Problem func(error)         // hears what went wrong: the report may be for machines
	Note    func(string)        // hears what the report does not say
}

// Verdict is what became of the files, the worst of all. Not having checked a
// file weighs more than what was found in another.
type Verdict int

// The verdicts are the exit codes of a command.
const (
	Clean      Verdict = iota
	Found              // findings at or above FailOn
	Mistaken           // a file is not there, or was named and is no transcript
	Unfinished         // a file could not be checked to its end
)

// mistake is one that the caller can mend.
type mistake struct {
	error
	hint string
}

// Hint says how.
func (m mistake) Hint() string  { return m.hint }
func (m mistake) Unwrap() error { return m.error }

// audit is under way.
type audit struct {
	Options
	totals  report.Totals
	verdict Verdict
}

// Run checks files and reports them. An error is the report's, or that of ctx.
func Run(ctx context.Context, files []input.File, o Options) (Verdict, error) {
	a := &audit{Options: o}
	workers := runtime.GOMAXPROCS(0)
	a.Verify.Workers = max(1, workers/max(1, len(files)))
	next := 0
	for file := range ordered(ctx, files, workers, a.check) {
		if err := a.report(file, files[next].Named); err != nil {
			return a.verdict, fmt.Errorf("write report: %w", err)
		}
		next++
	}
	if err := context.Cause(ctx); err != nil {
		return a.verdict, err
	}
	for _, file := range a.Anchors.missing() {
		if err := a.report(file, false); err != nil {
			return a.verdict, fmt.Errorf("write report: %w", err)
		}
	}
	if err := a.Render.Close(a.totals); err != nil {
		return a.verdict, fmt.Errorf("write report: %w", err)
	}
	if err := a.Baseline.finish(a.Note, a.totals.Failed == 0); err != nil {
		a.problem(Mistaken, err)
	}
	return a.verdict, nil
}

// report renders one file and counts it.
func (a *audit) report(f report.File, named bool) error {
	f.Findings = a.Baseline.filter(f.File, f.Findings)
	a.judge(f, named)
	a.totals.Add(f)
	a.Done(a.totals)
	return a.Render.File(f)
}

// judge counts what became of one file.
func (a *audit) judge(f report.File, named bool) {
	var newer *replay.NewerFormatError
	switch {
	case errors.Is(f.Err, fs.ErrNotExist), errors.As(f.Err, &newer):
		a.problem(Mistaken, f.Err)
	case f.Err != nil:
		a.problem(Unfinished, f.Err)
	case f.Format == unknown && named:
		a.problem(Mistaken, fmt.Errorf("%s: not a transcript: %s", f.File, strings.Join(f.Notes, "; ")))
	}
	if a.FailOn != "" && verify.Worst(f.Findings).Rank() >= a.FailOn.Rank() {
		a.verdict = max(a.verdict, Found)
	}
}

func (a *audit) problem(v Verdict, err error) {
	a.verdict = max(a.verdict, v)
	a.Problem(err)
}

// unknown is the format of what is no transcript.
const unknown = "unknown"

func unknownSummary(name string) verify.Summary {
	return verify.Summary{File: name, Format: unknown, Knowledge: verify.Unknown, Seal: verify.SealNone}
}

// check verifies one file. It is called concurrently.
func (a *audit) check(ctx context.Context, in input.File) report.File {
	anchor := a.Anchors.digest(in)
	result, err := a.verify(ctx, in, anchor)
	result.Summary.File = in.Name
	if anchor != "" && err == nil {
		switch {
		case result.Summary.Format == unknown:
			result.Findings = append(result.Findings, a.Anchors.finding(in.Name, "the transcript is none any more", anchor))
		case result.Summary.Digest == "":
			err = fmt.Errorf("check %s: its digest was not compared", in.Name)
		}
	}
	return report.File{Summary: result.Summary, Findings: result.Findings, Err: err}
}

func (a *audit) verify(ctx context.Context, in input.File, anchor string) (result verify.Result, err error) {
	result.Summary = unknownSummary(in.Name)
	if in.Note != "" {
		result.Summary.Notes = []string{in.Note}
	}
	if in.Err != nil || in.Note != "" {
		return result, in.Err
	}
	src, err := in.Open(ctx, a.Stdin)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	options := a.Verify
	options.Anchor = anchor
	return verify.Run(ctx, verify.Source{Name: in.Name, Reader: src, At: src}, a.Rules, options)
}
