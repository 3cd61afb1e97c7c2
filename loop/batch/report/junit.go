package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/replay/report/junit"
	"github.com/turnlog/turnlog/replay/text"
)

// writeJUnit writes a suite for each task: a case for its run, and one for each
// check and assertion.
func writeJUnit(w io.Writer, sum *batch.Summary, o *Options) error {
	out := junit.NewWriter(w, "turnlog run")
	for i := range sum.Results {
		if err := out.Suite(suite(&sum.Results[i], o)); err != nil {
			return err
		}
	}
	return out.Close()
}

func suite(r *results.Result, o *Options) junit.Suite {
	id, file := o.text(r.ID), o.text(r.File)
	s := junit.Suite{Name: id, File: file, Time: junit.Seconds(r.DurationMs)}
	for _, name := range slices.Sorted(maps.Keys(r.Labels)) {
		if s.Properties == nil {
			s.Properties = new(junit.Properties)
		}
		s.Properties.List = append(s.Properties.List, junit.Property{Name: o.text(name), Value: o.text(r.Labels[name])})
	}
	s.Cases = append(s.Cases, runCase(r, o))
	for i := range r.Assertions {
		a := &r.Assertions[i]
		c := junit.Case{Name: o.text(a.Name), Classname: id, File: file, Line: a.Line}
		if a.Line > 0 {
			c.Name = fmt.Sprintf("%s (line %d)", c.Name, a.Line)
		}
		message := cmp.Or(o.text(a.Message), "does not hold")
		switch {
		case a.Fails():
			c.Failure = &junit.Problem{Message: message, Type: "assertion", Text: place(file, a.Line) + ": " + c.Name + ": " + message}
		case !a.OK:
			c.Out = "warning: " + message
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// runCase is the case of the run itself. What an assertion says is not said
// twice, so that counts of failures are right.
func runCase(r *results.Result, o *Options) junit.Case {
	c := junit.Case{
		Name: "run", Classname: o.text(r.ID), File: o.text(r.File), Time: junit.Seconds(r.DurationMs),
		Out: fmt.Sprintf("%s: %s, %s, %d tokens, transcript %s", r.Status,
			text.Plural(r.Turns, "turn"), text.Plural(r.ToolCalls, "tool call"), r.Usage.TotalTokens, cmp.Or(o.text(r.Transcript), "none")),
	}
	reason := cmp.Or(o.text(r.Reason), "no reason given")
	problem := &junit.Problem{Message: reason, Type: string(r.Status), Text: fmt.Sprintf("%s: %s: %s", c.File, r.Status, reason)}
	switch {
	case r.Status == policy.OK || judged(r):
	case r.Status == policy.Skipped:
		c.Skipped, c.Out = problem, ""
	case r.Status == policy.Error || r.Status == policy.Aborted:
		c.Error = problem
	default:
		c.Failure = problem
	}
	return c
}

// place is a file and, if it is known, a line.
func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
