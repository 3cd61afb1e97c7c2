package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnlog/turnlog/replay/report/junit"
	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/verify"
)

// suites is JUnit XML: a suite for each file, a case for each finding. Findings
// that fail the check are failures, the others pass and tell in system-out.
type suites struct {
	out  *junit.Writer
	meta Meta
}

func newJUnit(w io.Writer, m Meta) Renderer {
	return &suites{out: junit.NewWriter(w, "turnlog verify"), meta: m}
}

func (j *suites) File(f File) error { return j.out.Suite(j.suite(f)) }

func (j *suites) Close(Totals) error { return j.out.Close() }

func (j *suites) suite(f File) junit.Suite {
	name := text.Printable(f.File)
	s := junit.Suite{Name: name, File: name}
	for i := range f.Findings {
		s.Cases = append(s.Cases, j.testCase(&f.Findings[i]))
	}
	whole := junit.Case{Name: "transcript", Classname: name, File: name}
	switch {
	case f.Err != nil:
		whole.Error = &junit.Problem{Message: text.Printable(f.Err.Error()), Type: "error"}
	case f.Format == unknownFormat:
		whole.Skipped = &junit.Problem{Message: "not a transcript"}
	default:
		whole.Out = describe(f.Summary)
		for _, n := range f.Notes {
			whole.Out += "\n" + text.Printable(n)
		}
	}
	s.Cases = append(s.Cases, whole)
	return s
}

func (j *suites) testCase(f *verify.Finding) junit.Case {
	name := text.Printable(f.File)
	c := junit.Case{Name: f.Rule, Classname: name, File: name, Line: f.Line}
	if f.Line > 0 {
		c.Name = fmt.Sprintf("%s line %d", f.Rule, f.Line)
	}
	var said strings.Builder
	fmt.Fprintf(&said, "%s:%d:%d: %s: %s [%s]", name, f.Line, f.Column, f.Severity, text.Printable(f.Message), f.Rule)
	for _, r := range f.Related {
		fmt.Fprintf(&said, "\nline %d: %s", r.Line, text.Printable(r.Message))
	}
	if j.meta.fails(f.Severity) {
		c.Failure = &junit.Problem{Message: text.Printable(f.Message), Type: string(f.Severity), Text: said.String()}
	} else {
		c.Out = said.String()
	}
	return c
}
