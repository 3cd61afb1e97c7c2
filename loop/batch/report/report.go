// Package report tells CI systems how the tasks of a batch ended. It reads
// results; replay/report is its counterpart for findings.
//
// Reasons and messages of results hold what models, tools and endpoints said,
// so everything is masked and made printable before it reaches a markup.
package report

import (
	"io"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/replay/choice"
	"github.com/turnlog/turnlog/replay/text"
)

// Options of a report. The zero value works.
type Options struct {
	Mask func(string) string // hides secret values; nil hides nothing

	// StepSummary takes the Markdown summary of the github kind; nil writes
	// none. Room is how many bytes it may have, 0 for GitHub's limit of 1 MiB
	// for a step.
	StepSummary io.Writer
	Room        int
}

// The kinds of reports.
const (
	JUnit  = "junit"
	GitHub = "github"
)

// kinds is the table of reports.
func kinds() choice.Table[func(io.Writer, *batch.Summary, *Options) error] {
	return choice.Table[func(io.Writer, *batch.Summary, *Options) error]{
		{Name: JUnit, Value: writeJUnit},
		{Name: GitHub, Value: writeGitHub},
	}
}

// Kinds lists the names that [Write] knows.
func Kinds() []string { return kinds().Names() }

// Write writes a report of one kind, or returns an error that lists the known
// ones.
func Write(name string, w io.Writer, sum *batch.Summary, o Options) error {
	write, err := kinds().Find("report", name)
	if err != nil {
		return err
	}
	return write(w, sum, &o)
}

// text makes a text fit to be shown.
func (o *Options) text(s string) string {
	if o.Mask != nil {
		s = o.Mask(s)
	}
	return text.Printable(s)
}

// judged reports whether an assertion that failed says why the task did.
func judged(r *results.Result) bool {
	if r.Status != policy.Failed {
		return false
	}
	for i := range r.Assertions {
		if r.Assertions[i].Fails() {
			return true
		}
	}
	return false
}
