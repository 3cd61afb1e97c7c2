package diff

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/diff/internal/words"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/text"
)

// TextOptions of [Result.WriteText]. The zero value is plain text of 100
// columns.
type TextOptions struct {
	Width int // columns; lines of values are shortened to it
	Color bool
	Limit int  // changes shown of each category; 0 shows all
	Stat  bool // one line for each category instead
}

// WriteText writes a result for people: where the histories part, what
// differed there already, then the changes by category. Nothing of the
// histories reaches w unescaped. Two equal histories make one line.
func (r *Result) WriteText(w io.Writer, o TextOptions) error {
	if o.Width <= 0 {
		o.Width = 100
	}
	o.Width = max(o.Width, 40)
	p := &printer{bufio.NewWriter(w), o, r}
	switch {
	case r.Equal():
		p.equal()
	case o.Stat:
		p.stat()
	default:
		p.heading()
		p.divergence()
		p.mismatches()
		p.changes()
	}
	return p.Flush()
}

type printer struct {
	*bufio.Writer
	o TextOptions
	r *Result
}

// SGR codes.
const (
	bold    = "1"
	dim     = "2"
	red     = "31"
	green   = "32"
	yellow  = "33"
	cyan    = "36"
	redOn   = "1;7;31"
	greenOn = "1;7;32"
)

func (p *printer) paint(code, s string) string {
	if !p.o.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p *printer) print(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// enough reports whether i of n things are all that is shown, and says so.
func (p *printer) enough(indent string, i, n int) bool {
	if p.o.Limit == 0 || i < p.o.Limit {
		return false
	}
	p.print("%s%s\n", indent, p.paint(dim, fmt.Sprintf("… %d more", n-i)))
	return true
}

func (p *printer) equal() {
	a, b := p.r.A, p.r.B
	verb, what := "are equal", fmt.Sprintf("%s, %s", text.Plural(a.Turns, "turn"), text.Plural(a.Messages, "message"))
	switch {
	case p.r.Mode == OnlyTools && a.Knowledge == replay.Unknown:
		verb = "record no tools"
	case p.r.Mode == OnlyTools:
		verb = "have the same tools"
	case p.r.Mode == OnlyCalls:
		verb = "have the same calls"
		what = fmt.Sprintf("%s, %s", p.r.Sequence, text.Plural(b.Made, "call"))
	}
	if len(a.Damage) > 0 {
		what += fmt.Sprintf("; as far as they can be read, %s damaged alike", text.Plural(len(a.Damage), "line"))
	}
	p.print("%s and %s %s: %s\n", text.Printable(a.Name), text.Printable(b.Name), verb, what)
}

// heading says how much is the same, and causes first.
func (p *printer) heading() {
	r := p.r
	p.side(red, "--- ", r.A)
	p.side(green, "+++ ", r.B)
	if r.Mode == OnlyCalls {
		p.print("calls %s, arguments %s: %s\n", r.Sequence, r.Arguments, text.Plural(len(r.Mismatches), "difference"))
		return
	}
	p.print("equal for %s, %s\n", text.Plural(r.Common.Turns, "turn"), text.Plural(r.Common.Messages, "message"))
	for _, c := range r.Causes {
		p.cause(c)
	}
	if r.A.Knowledge != r.B.Knowledge {
		p.print("tools not compared: %s records them as %s, %s as %s\n",
			text.Printable(r.A.Name), r.A.Knowledge, text.Printable(r.B.Name), r.B.Knowledge)
	}
}

func (p *printer) side(code, mark string, h *History) {
	line, size := mark+text.Printable(h.Name), text.Plural(h.Messages, "message")
	switch {
	case p.r.Mode == OnlyCalls:
		size = text.Plural(h.Made, "call")
	case h.At != nil:
		line += fmt.Sprintf(" at line %d, turn %d", h.At.Line, h.At.Turn)
		size += " in effect"
	default:
		size = text.Plural(h.Turns, "turn") + ", " + size
	}
	p.print("%s  %s\n", p.paint(code, line), p.paint(dim, size))
}

// cause names what differs of a condition where the histories part.
func (p *printer) cause(c Category) {
	var names []string
	seen := map[string]bool{}
	for _, s := range p.r.parted {
		name := marks[s.Kind] + " " + text.Printable(s.Subject)
		if s.Category == c && !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	turns := fmt.Sprintf("turn %d", p.r.turns[0])
	if p.r.turns[0] != p.r.turns[1] {
		turns = fmt.Sprintf("turn %d | %d", p.r.turns[0], p.r.turns[1])
	}
	line := fmt.Sprintf("%s from %s: %s", c, turns, strings.Join(names, ", "))
	p.print("%s %s\n", p.paint(yellow, "cause:"), text.Fit(line, p.o.Width-7))
}

func (p *printer) divergence() {
	d := p.r.Divergence
	if d == nil {
		return
	}
	p.print("\n%s\n", p.paint(bold, "first divergence"))
	switch {
	case d.A == nil || d.B == nil || d.A.Kind != d.B.Kind:
		p.moment("-", red, d.A, p.r.A)
		p.moment("+", green, d.B, p.r.B)
	case d.A.Text == d.B.Text && p.r.conditionsOnly():
		p.moment("=", dim, d.A, p.r.A)
		p.print("  the messages are the same, the requests that they answer are not\n")
	default:
		x, y := words.Compare(text.Printable(d.A.Text), text.Printable(d.B.Text))
		p.line("  ", "- "+d.A.head(), x)
		p.line("  ", "+ "+d.B.head(), y)
	}
}

func (m *Moment) head() string {
	return fmt.Sprintf("line %d, turn %d, %s:", m.Line, m.Turn, text.Printable(m.Kind))
}

func (p *printer) moment(mark, code string, m *Moment, h *History) {
	if m == nil {
		p.print("  %s\n", p.paint(code, mark+" "+text.Printable(h.Name)+" ends here"))
		return
	}
	p.line("  ", mark+" "+m.head(), []words.Segment{{Text: text.Printable(m.Text)}})
}

// mismatches shows what mode calls found.
func (p *printer) mismatches() {
	list := p.r.Mismatches
	for i := range list {
		if p.enough("  ", i, len(list)) {
			break
		}
		m := &list[i]
		if m.Want >= 0 {
			p.call("-", red, "a", m.Want, &p.r.A.calls[m.Want])
		}
		if m.Got >= 0 {
			p.call("+", green, "b", m.Got, &p.r.B.calls[m.Got])
		}
		for i, f := range m.Fields {
			if p.enough("    ", i, len(m.Fields)) {
				break
			}
			p.print("    %s %s\n", p.mark(f.Kind), text.Printable(f.Path))
			p.values(f)
		}
	}
}

func (p *printer) call(mark, code, side string, n int, c *calls.Call) {
	head := fmt.Sprintf("%s call %d, %s:%d turn %d: ", mark, n+1, side, c.Line, c.Turn)
	call := text.Printable(c.Name + " " + string(c.Arguments))
	p.print("  %s%s\n", p.paint(code, head), text.Fit(call, max(20, p.o.Width-len(head)-2)))
}

// of gives the changes of a category; they are sorted by it.
func (r *Result) of(c Category) []Change {
	from := slices.IndexFunc(r.Changes, func(x Change) bool { return x.Category == c })
	if from < 0 {
		return nil
	}
	list := r.Changes[from:]
	if n := slices.IndexFunc(list, func(x Change) bool { return x.Category != c }); n >= 0 {
		list = list[:n]
	}
	return list
}

func (p *printer) changes() {
	for _, c := range Categories() {
		list := p.r.of(c)
		if len(list) == 0 {
			continue
		}
		p.print("\n%s %s\n", p.paint(bold, string(c)), p.paint(dim, newStat(list).counts()))
		for i := range list {
			if p.enough("  ", i, len(list)) {
				break
			}
			p.change(&list[i])
		}
	}
	p.totals()
}

// totals shows what the histories used even where it is not compared: it is
// what people ask next.
func (p *printer) totals() {
	a, b := p.r.A.Usage, p.r.B.Usage
	if a == b || !slices.Contains(p.r.Ignored, "usage") || p.r.Mode != Full {
		return
	}
	p.print("\n%s %s\n", p.paint(bold, "usage"), p.paint(dim, "not compared"))
	p.print("  %s\n  %s\n", p.paint(red, "- "+usageText(a)), p.paint(green, "+ "+usageText(b)))
}

func usageText(t Tokens) string {
	return fmt.Sprintf("%d in, %d out, %d cache read, %d cache write, %d in all, %.6g USD",
		t.Input, t.Output, t.CacheRead, t.CacheWrite, t.TotalTokens, t.Cost)
}

var marks = map[Kind]string{Added: "+", Removed: "-", Changed: "~", Moved: ">"}

var markColors = map[Kind]string{Added: green, Removed: red, Changed: yellow, Moved: cyan}

func (p *printer) mark(k Kind) string { return p.paint(markColors[k], marks[k]) }

func (p *printer) change(c *Change) {
	title := text.Printable(c.Subject)
	if c.Path != "" && c.Path != "$" {
		title += " " + text.Printable(c.Path)
	}
	at := []string{sideText("a", c.PlaceA, c.UntilA), sideText("b", c.PlaceB, c.UntilB)}
	at = slices.DeleteFunc(at, func(side string) bool { return side == "" })
	p.print("  %s %s  %s\n", p.mark(c.Kind), title, p.paint(dim, strings.Join(at, " | ")))
	p.values(jsondiff.Field{Kind: c.Kind, A: c.A, B: c.B})
}

// values shows what the sides have.
func (p *printer) values(f jsondiff.Field) {
	switch {
	case f.Kind == Added:
		p.lone("+", green, f.B)
	case f.Kind == Removed:
		p.lone("-", red, f.A)
	case f.Kind == Moved && jsondiff.Equal(f.A, f.B):
		p.lone(" ", dim, f.A)
	default:
		p.both(f.A, f.B)
	}
}

// sideText says where a change stands on one side, "" if it does not.
func sideText(name string, at Place, until int) string {
	var parts []string
	if at.Line > 0 {
		parts = append(parts, fmt.Sprintf("%s:%d", name, at.Line))
	}
	switch {
	case at.Turn > 0 && until > at.Turn:
		parts = append(parts, fmt.Sprintf("turns %d-%d", at.Turn, until))
	case at.Turn > 0:
		parts = append(parts, fmt.Sprintf("turn %d", at.Turn))
	}
	return strings.Join(parts, " ")
}

// counts writes 3 changes as 1 added, 2 changed.
func (s stat) counts() string {
	var parts []string
	for _, k := range []struct {
		n    int
		kind Kind
	}{{s.Added, Added}, {s.Removed, Removed}, {s.Changed, Changed}, {s.Moved, Moved}} {
		if k.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", k.n, k.kind))
		}
	}
	return strings.Join(parts, ", ")
}

// stat is one line for each category.
func (p *printer) stat() {
	if n := len(p.r.Mismatches); n > 0 {
		p.print("%-10s %d\n", Calls, n)
	}
	for _, s := range p.r.stats() {
		p.print("%-10s %5d  %s\n", s.Category, s.Added+s.Removed+s.Changed+s.Moved, s.counts())
	}
}
