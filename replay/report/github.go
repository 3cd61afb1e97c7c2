package report

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/report/workflow"
	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/verify"
)

const (
	maxAnnotations = workflow.MaxAnnotations
	maxSummaryRows = 1000 // of each severity; what is beyond is counted
)

// github writes workflow commands, which become annotations beside the lines
// of a pull request, and a Markdown summary of the step.
type github struct {
	w     *bufio.Writer
	meta  Meta
	worst worst
	files []File // whose check could not be finished; without their findings
}

func newGitHub(w io.Writer, m Meta) Renderer {
	return &github{w: bufio.NewWriter(w), meta: m, worst: worst{limit: maxSummaryRows}}
}

func (g *github) File(f File) error {
	g.worst.add(f.Findings)
	if f.Err != nil && len(g.files) < maxSummaryRows {
		f.Findings = nil
		g.files = append(g.files, f)
	}
	return nil
}

func (g *github) Close(t Totals) error {
	room := maxAnnotations
	for _, f := range g.files[:min(len(g.files), maxAnnotations)] {
		g.annotate(workflow.Error, f.File, 0, 0, "cannot check", f.Err.Error())
		room--
	}
	left := max(0, len(g.files)-maxAnnotations)
	for r, kept := range g.worst.kept {
		if r > 0 {
			room = maxAnnotations
		}
		shown := kept[:min(len(kept), room)]
		left += g.worst.seen[r] - len(shown)
		for i := range shown {
			f := &shown[i]
			g.annotate(annotation(f.Severity), f.File, f.Line, f.Column, f.Rule, f.Message)
		}
	}
	if left > 0 {
		fmt.Fprintf(g.w, "%s without an annotation: GitHub shows %d of each severity for a step\n", text.Plural(left, "finding"), maxAnnotations)
	}
	fmt.Fprintln(g.w, counts(t))
	if err := g.w.Flush(); err != nil || g.meta.StepSummary == nil {
		return err
	}
	_, err := g.meta.StepSummary.Write(g.summary(t, cmp.Or(g.meta.Room, workflow.MaxSummaryBytes)))
	return err
}

func counts(t Totals) string {
	return fmt.Sprintf("%s: %s, %s, %s", text.Plural(t.Files, "file"),
		text.Plural(t.Errors, "error"), text.Plural(t.Warnings, "warning"), text.Plural(t.Notes, "note"))
}

// annotation is GitHub's word for a severity.
func annotation(s verify.Severity) string {
	if s == verify.Note {
		return workflow.Notice
	}
	return string(s)
}

// annotate writes one workflow command.
func (g *github) annotate(kind, file string, line, column int, title, message string) {
	fmt.Fprintln(g.w, workflow.Annotation{
		Kind: kind, File: text.Printable(file), Line: line, Column: column, Title: title, Message: text.Printable(message),
	})
}

// summary is the Markdown of a step, at most room bytes. Rows that do not fit
// are counted at its end.
func (g *github) summary(t Totals, room int) []byte {
	const tail = 128 // the closing line
	var b bytes.Buffer
	fmt.Fprintf(&b, "### turnlog verify\n\n%s\n", counts(t))
	for _, f := range g.files {
		row := fmt.Sprintf("\n- cannot check %s: %s\n", cell(f.File), cell(f.Err.Error()))
		if b.Len()+len(row)+tail > room {
			break
		}
		b.WriteString(row)
	}
	findings, beyond := g.worst.take(severities * maxSummaryRows)
	for i := range findings {
		row := summaryRow(&findings[i])
		if i == 0 {
			row = "\n| severity | place | finding | rule |\n|---|---|---|---|\n" + row
		}
		if b.Len()+len(row)+tail > room {
			beyond += len(findings) - i
			break
		}
		b.WriteString(row)
	}
	if beyond > 0 {
		fmt.Fprintf(&b, "\n%s more in the log or in another format.\n", text.Plural(beyond, "finding"))
	}
	if b.Len() > room {
		return nil
	}
	return b.Bytes()
}

func summaryRow(f *verify.Finding) string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return fmt.Sprintf("| %s | %s | %s | `%s` |\n", f.Severity, cell(place), cell(text.Shorten(f.Message, 400)), f.Rule)
}

// cell makes text inert in a Markdown table.
func cell(s string) string { return workflow.Cell(text.Printable(s)) }
