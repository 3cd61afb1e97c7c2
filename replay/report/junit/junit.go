// Package junit writes JUnit XML in the dialect that GitLab, Jenkins and the
// reporters of GitHub read. There is no standard: these are the elements and
// attributes that all of them know.
//
// Texts are escaped as XML. Characters that XML cannot hold at all, such as
// most control characters, become U+FFFD; callers who want them to be seen
// make them printable before.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Suite is one testsuite.
type Suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	File     string   `xml:"file,attr"`
	Tests    int      `xml:"tests,attr"` // the counts are set by [Writer.Suite]
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     string   `xml:"time,attr,omitempty"` // in seconds, see [Seconds]

	Properties *Properties `xml:"properties"`
	Cases      []Case      `xml:"testcase"`
}

// Properties are further names and values of a suite.
type Properties struct {
	List []Property `xml:"property"`
}

// Property is one of them.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is one testcase. It passed if it has no Failure, Error or Skipped.
type Case struct {
	Name      string   `xml:"name,attr"`
	Classname string   `xml:"classname,attr"`
	File      string   `xml:"file,attr"`
	Line      int      `xml:"line,attr,omitempty"`
	Time      string   `xml:"time,attr,omitempty"`
	Failure   *Problem `xml:"failure"`
	Error     *Problem `xml:"error"`
	Skipped   *Problem `xml:"skipped"`
	Out       string   `xml:"system-out,omitempty"`
}

// Problem says what is the matter with a case.
type Problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// Seconds writes a duration as the time attributes have it.
func Seconds(milliseconds int64) string {
	return fmt.Sprintf("%d.%03d", milliseconds/1000, milliseconds%1000)
}

// Writer writes one document.
type Writer struct {
	w    io.Writer
	name string
	open bool
}

// NewWriter writes a document whose testsuites have this name. Nothing is
// written before the first suite, or Close.
func NewWriter(w io.Writer, name string) *Writer { return &Writer{w: w, name: name} }

// Suite appends a suite; it counts the cases.
func (w *Writer) Suite(s Suite) error {
	if err := w.start(); err != nil {
		return err
	}
	s.Tests, s.Failures, s.Errors, s.Skipped = len(s.Cases), 0, 0, 0
	for i := range s.Cases {
		switch c := &s.Cases[i]; {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	out, err := xml.MarshalIndent(s, " ", " ")
	if err != nil {
		return fmt.Errorf("encode junit suite: %w", err)
	}
	_, err = w.w.Write(append(out, '\n'))
	return err
}

func (w *Writer) start() error {
	if w.open {
		return nil
	}
	w.open = true
	var name strings.Builder
	_ = xml.EscapeText(&name, []byte(w.name)) // a Builder takes all
	_, err := fmt.Fprintf(w.w, "%s<testsuites name=\"%s\">\n", xml.Header, &name)
	return err
}

// Close ends the document. It does not close what it is written to.
func (w *Writer) Close() error {
	if err := w.start(); err != nil {
		return err
	}
	_, err := io.WriteString(w.w, "</testsuites>\n")
	return err
}
