// Package report writes findings for people, editors and CI systems.
//
// A renderer is handed one file after the other, in the order in which they
// shall appear, and writes as it goes: only formats that show the worst first
// keep findings, and those keep a bounded number. Transcripts are hostile
// input; nothing of them reaches a terminal or a markup unescaped.
package report

import (
	"io"

	"github.com/turnlog/turnlog/replay/choice"
	"github.com/turnlog/turnlog/replay/verify"
)

// Renderer writes a report.
type Renderer interface {
	// File reports one file. Its error is of the writer.
	File(f File) error

	// Close ends the report; nothing is complete before it.
	Close(t Totals) error
}

// File is what verify said about one file.
type File struct {
	verify.Summary
	Findings []verify.Finding // in the order in which they shall appear

	// Err says why the check could not be finished. The findings up to there
	// stand.
	Err error
}

// Totals counts what a report says.
type Totals struct {
	Files    int `json:"files"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Notes    int `json:"notes"`

	Unknown int `json:"-"` // files that are no transcripts
	Failed  int `json:"-"` // files whose check could not be finished
}

// Add counts a file.
func (t *Totals) Add(f File) {
	t.Files++
	if f.Err != nil {
		t.Failed++
	} else if f.Format == unknownFormat {
		t.Unknown++
	}
	for i := range f.Findings {
		switch f.Findings[i].Severity {
		case verify.Error:
			t.Errors++
		case verify.Warning:
			t.Warnings++
		case verify.Note:
			t.Notes++
		}
	}
}

// unknownFormat is the Format of a file that is no transcript.
const unknownFormat = "unknown"

// Meta is what a report says besides findings, and how. The zero value works.
type Meta struct {
	Version string          // of turnlog
	Rules   []verify.Rule   // that ran
	FailOn  verify.Severity // the least severity that fails; "" is none
	Color   bool            // text only

	// StepSummary takes the Markdown summary of the github format; nil writes
	// none. Room is how many bytes it may have, 0 for GitHub's limit of 1 MiB
	// for a step.
	StepSummary io.Writer
	Room        int
}

// formats is the table of renderers.
func formats() choice.Table[func(io.Writer, Meta) Renderer] {
	return choice.Table[func(io.Writer, Meta) Renderer]{
		{Name: "text", Value: newText},
		{Name: "json", Value: newJSON},
		{Name: "ndjson", Value: newNDJSON},
		{Name: "sarif", Value: newSARIF},
		{Name: "junit", Value: newJUnit},
		{Name: "github", Value: newGitHub},
	}
}

// Formats lists the names that [New] knows.
func Formats() []string { return formats().Names() }

// New returns the renderer of a format, or an error that lists the known ones.
func New(name string, w io.Writer, m Meta) (Renderer, error) {
	renderer, err := formats().Find("format", name)
	if err != nil {
		return nil, err
	}
	return renderer(w, m), nil
}

// fails reports whether a finding of severity s is one that fails.
func (m Meta) fails(s verify.Severity) bool {
	return m.FailOn != "" && s.Rank() >= m.FailOn.Rank()
}

// severities is the number of severities.
const severities = 3

// order puts a severity among the others, worst first.
func order(s verify.Severity) int { return severities - max(s.Rank(), 1) }

// worst keeps the first findings of each severity, up to a limit, and counts
// the rest. What it keeps is bounded, whatever a folder holds.
type worst struct {
	limit int
	kept  [severities][]verify.Finding
	seen  [severities]int
}

func (w *worst) add(fs []verify.Finding) {
	for i := range fs {
		r := order(fs[i].Severity)
		w.seen[r]++
		if len(w.kept[r]) < w.limit {
			w.kept[r] = append(w.kept[r], fs[i])
		}
	}
}

// take returns up to n findings, worst first, and how many there were beyond.
func (w *worst) take(n int) (fs []verify.Finding, beyond int) {
	total := 0
	for r := range w.kept {
		total += w.seen[r]
		fs = append(fs, w.kept[r][:min(len(w.kept[r]), n-len(fs))]...)
	}
	return fs, total - len(fs)
}
