package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/turnlog/turnlog/replay/verify"
)

// junit is JUnit XML in the dialect that GitLab, Jenkins and GitHub actions
// read: a suite for each file, a case for each finding. Findings that fail the
// check are failures, the others pass and tell in system-out.
type junit struct {
	w    io.Writer
	meta Meta
	open bool
}

func newJUnit(w io.Writer, m Meta) Renderer { return &junit{w: w, meta: m} }

type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		File     string      `xml:"file,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		Classname string        `xml:"classname,attr"`
		File      string        `xml:"file,attr"`
		Line      int           `xml:"line,attr,omitempty"`
		Failure   *junitProblem `xml:"failure"`
		Error     *junitProblem `xml:"error"`
		Skipped   *junitProblem `xml:"skipped"`
		Out       string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

func (j *junit) File(f File) error {
	if err := j.start(); err != nil {
		return err
	}
	suite := j.suite(f)
	out, err := xml.MarshalIndent(suite, " ", " ")
	if err != nil {
		return fmt.Errorf("encode junit suite: %w", err)
	}
	_, err = j.w.Write(append(out, '\n'))
	return err
}

func (j *junit) start() error {
	if j.open {
		return nil
	}
	j.open = true
	_, err := io.WriteString(j.w, xml.Header+"<testsuites name=\"turnlog verify\">\n")
	return err
}

func (j *junit) suite(f File) junitSuite {
	name := Printable(f.File)
	s := junitSuite{Name: name, File: name}
	for i := range f.Findings {
		c := j.testCase(&f.Findings[i])
		if c.Failure != nil {
			s.Failures++
		}
		s.Cases = append(s.Cases, c)
	}
	whole := junitCase{Name: "transcript", Classname: name, File: name}
	switch {
	case f.Err != nil:
		whole.Error = &junitProblem{Message: Printable(f.Err.Error()), Type: "error"}
		s.Errors++
	case f.Format == unknownFormat:
		whole.Skipped = &junitProblem{Message: "not a transcript"}
		s.Skipped++
	default:
		whole.Out = describe(f.Summary)
		for _, n := range f.Notes {
			whole.Out += "\n" + Printable(n)
		}
	}
	s.Cases = append(s.Cases, whole)
	s.Tests = len(s.Cases)
	return s
}

func (j *junit) testCase(f *verify.Finding) junitCase {
	name := Printable(f.File)
	c := junitCase{Name: f.Rule, Classname: name, File: name, Line: f.Line}
	if f.Line > 0 {
		c.Name = fmt.Sprintf("%s line %d", f.Rule, f.Line)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s:%d:%d: %s: %s [%s]", name, f.Line, f.Column, f.Severity, Printable(f.Message), f.Rule)
	for _, r := range f.Related {
		fmt.Fprintf(&text, "\nline %d: %s", r.Line, Printable(r.Message))
	}
	if j.meta.fails(f.Severity) {
		c.Failure = &junitProblem{Message: Printable(f.Message), Type: string(f.Severity), Text: text.String()}
	} else {
		c.Out = text.String()
	}
	return c
}

func (j *junit) Close(Totals) error {
	if err := j.start(); err != nil {
		return err
	}
	_, err := io.WriteString(j.w, "</testsuites>\n")
	return err
}
