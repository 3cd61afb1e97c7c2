package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/verify"
)

// terminal is for people and for editors that jump to file:line:column.
type terminal struct {
	w     *bufio.Writer
	color bool
	gap   bool // the file before had findings: an empty line sets them apart
}

func newText(w io.Writer, m Meta) Renderer {
	return &terminal{w: bufio.NewWriter(w), color: m.Color}
}

// SGR codes.
const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	yellow = "1;33"
	cyan   = "1;36"
	green  = "32"
)

func (t *terminal) paint(code, s string) string {
	if !t.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (t *terminal) severity(s verify.Severity) string {
	code := map[verify.Severity]string{verify.Error: red, verify.Warning: yellow}[s]
	if code == "" {
		code = cyan
	}
	return t.paint(code, string(s))
}

// snippetWidth keeps a snippet on one line of a usual terminal.
const snippetWidth = 96

func (t *terminal) File(f File) error {
	t.space()
	t.gap = len(f.Findings) > 0
	for i := range f.Findings {
		t.finding(&f.Findings[i])
	}
	name := t.paint(bold, text.Printable(f.File))
	if f.Err != nil {
		fmt.Fprintf(t.w, "%s: %s: %s\n", name, t.paint(red, "cannot check"), text.Printable(f.Err.Error()))
		return t.w.Flush()
	}
	if f.Format == unknownFormat {
		fmt.Fprintf(t.w, "%s: %s\n", name, t.paint(dim, "not a transcript (format unknown)"))
		t.notes(f.Notes)
		return t.w.Flush()
	}
	fmt.Fprintf(t.w, "%s: %s %s\n", name, t.verdict(f), t.paint(dim, "("+describe(f.Summary)+")"))
	t.notes(f.Notes)
	return t.w.Flush()
}

func (t *terminal) space() {
	if t.gap {
		fmt.Fprintln(t.w)
	}
}

func (t *terminal) finding(f *verify.Finding) {
	place := text.Printable(f.File)
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", place, f.Line, max(f.Column, 1))
	}
	fmt.Fprintf(t.w, "%s: %s: %s %s\n", t.paint(bold, place), t.severity(f.Severity), text.Printable(f.Message), t.paint(dim, "["+f.Rule+"]"))
	if f.Snippet != "" {
		fmt.Fprintf(t.w, "    %s\n", t.paint(dim, text.Shorten(text.Printable(f.Snippet), snippetWidth)))
	}
	for _, r := range f.Related {
		fmt.Fprintf(t.w, "    line %d: %s\n", r.Line, text.Printable(r.Message))
	}
}

func (t *terminal) notes(notes []string) {
	for _, n := range notes {
		fmt.Fprintf(t.w, "    %s\n", t.paint(dim, text.Printable(n)))
	}
}

// verdict counts the findings of a file by severity, and says "ok" to none.
func (t *terminal) verdict(f File) string {
	var n Totals
	n.Add(f)
	if len(f.Findings) == 0 {
		return t.paint(green, "ok")
	}
	return t.counts(n)
}

func (t *terminal) counts(n Totals) string {
	var parts []string
	for _, c := range []struct {
		n    int
		noun string
		code string
	}{{n.Errors, "error", red}, {n.Warnings, "warning", yellow}, {n.Notes, "note", cyan}} {
		if c.n > 0 {
			parts = append(parts, t.paint(c.code, text.Plural(c.n, c.noun)))
		}
	}
	if len(parts) == 0 {
		return t.paint(green, "no findings")
	}
	return strings.Join(parts, ", ")
}

// describe says what a file is: turnlog, 12 entries, tools exact, sealed.
func describe(s verify.Summary) string {
	parts := []string{s.Format, text.Plural(s.Entries, "entry")}
	if s.Branches > 1 {
		parts = append(parts, text.Plural(s.Branches, "branch"))
	}
	parts = append(parts, "tools "+string(s.Knowledge))
	switch s.Seal {
	case verify.SealOK:
		parts = append(parts, "seal ok")
	case verify.SealBroken:
		parts = append(parts, "seal broken")
	case verify.SealMissing:
		parts = append(parts, "unsealed")
	case verify.SealInherited:
		parts = append(parts, "seal inherited, not checkable")
	}
	return strings.Join(parts, ", ")
}

func (t *terminal) Close(n Totals) error {
	if n.Files != 1 {
		t.space()
		fmt.Fprintf(t.w, "%s: %s%s\n", text.Plural(n.Files, "file"), t.counts(n), t.rest(n))
	}
	return t.w.Flush()
}

// rest says which files the counts do not speak of.
func (t *terminal) rest(n Totals) string {
	s := ""
	if n.Unknown > 0 {
		s += fmt.Sprintf("; %s no transcript", text.Plural(n.Unknown, "file"))
	}
	if n.Failed > 0 {
		s += "; " + t.paint(red, text.Plural(n.Failed, "file")+" not checked to the end")
	}
	return s
}
