package diff

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay"
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
	b := bufio.NewWriter(w)
	p := &printer{w: b, o: o, r: r}
	switch {
	case r.Equal():
		p.equal()
	case o.Stat:
		p.stat()
	case r.Mode == OnlyCalls:
		p.mismatches()
	default:
		p.heading()
		p.divergence()
		p.changes()
	}
	return b.Flush()
}

type printer struct {
	w *bufio.Writer
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

func (p *printer) equal() {
	a, b := p.r.A, p.r.B
	what := fmt.Sprintf("%s, %s", text.Plural(a.Turns, "turn"), text.Plural(a.Messages, "message"))
	verb := "are equal"
	switch p.r.Mode {
	case OnlyTools:
		verb = "have the same tools"
	case OnlyCalls:
		verb = "have the same calls"
		what = fmt.Sprintf("%s, %s", p.r.Sequence, text.Plural(len(b.calls), "call"))
	}
	if p.r.Mode == OnlyTools && a.Knowledge == replay.Unknown {
		verb = "record no tools"
	}
	if len(a.Damage) > 0 {
		what += fmt.Sprintf("; as far as they can be read, %s damaged alike", text.Plural(len(a.Damage), "line"))
	}
	fmt.Fprintf(p.w, "%s and %s %s: %s\n", text.Printable(a.Name), text.Printable(b.Name), verb, what)
}

// heading says how much is the same, and causes first.
func (p *printer) heading() {
	r := p.r
	for _, side := range []struct {
		mark, code string
		h          *History
	}{{"---", red, r.A}, {"+++", green, r.B}} {
		line, size := side.mark+" "+text.Printable(side.h.Name), text.Plural(side.h.Messages, "message")
		if side.h.At != nil {
			line += fmt.Sprintf(" at line %d, turn %d", side.h.At.Line, side.h.At.Turn)
			size += " in effect"
		} else {
			size = text.Plural(side.h.Turns, "turn") + ", " + size
		}
		fmt.Fprintf(p.w, "%s  %s\n", p.paint(side.code, line), p.paint(dim, size))
	}
	fmt.Fprintf(p.w, "equal for %s, %s\n", text.Plural(r.Common.Turns, "turn"), text.Plural(r.Common.Messages, "message"))
	for _, c := range r.Causes {
		p.cause(c)
	}
	if r.A.Knowledge != r.B.Knowledge {
		fmt.Fprintf(p.w, "tools not compared: %s records them as %s, %s as %s\n",
			text.Printable(r.A.Name), r.A.Knowledge, text.Printable(r.B.Name), r.B.Knowledge)
	}
}

// cause names what differs of a condition where the histories part.
func (p *printer) cause(c Category) {
	var names []string
	for _, s := range p.r.parted {
		name := marks[s.Kind] + " " + text.Printable(s.Subject)
		if s.Category == c && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	turns := fmt.Sprintf("turn %d", p.r.turns.a)
	if p.r.turns.a != p.r.turns.b {
		turns = fmt.Sprintf("turn %d | %d", p.r.turns.a, p.r.turns.b)
	}
	line := fmt.Sprintf("%s from %s: %s", c, turns, strings.Join(names, ", "))
	fmt.Fprintf(p.w, "%s %s\n", p.paint(yellow, "cause:"), text.Fit(line, p.o.Width-7))
}

func (p *printer) divergence() {
	d := p.r.Divergence
	if d == nil {
		return
	}
	fmt.Fprintf(p.w, "\n%s\n", p.paint(bold, "first divergence"))
	if d.A == nil || d.B == nil || d.A.Kind != d.B.Kind {
		p.moment("-", red, d.A, p.r.A)
		p.moment("+", green, d.B, p.r.B)
		return
	}
	if d.A.Text == d.B.Text && p.r.conditionsOnly() {
		p.line("  ", "= "+d.A.head(), []segment{{text: text.Printable(d.A.Text)}})
		fmt.Fprintf(p.w, "  the messages are the same, the requests that they answer are not\n")
		return
	}
	x, y := words(text.Printable(d.A.Text), text.Printable(d.B.Text))
	p.line("  ", "- "+d.A.head(), x)
	p.line("  ", "+ "+d.B.head(), y)
}

func (m *Moment) head() string {
	return fmt.Sprintf("line %d, turn %d, %s:", m.Line, m.Turn, text.Printable(m.Kind))
}

func (p *printer) moment(mark, code string, m *Moment, h *History) {
	if m == nil {
		fmt.Fprintf(p.w, "  %s\n", p.paint(code, mark+" "+text.Printable(h.Name)+" ends here"))
		return
	}
	p.line("  ", mark+" "+m.head(), []segment{{text: text.Printable(m.Text)}})
}

// of gives the changes of a category.
func (r *Result) of(c Category) []Change {
	var list []Change
	for i := range r.Changes {
		if r.Changes[i].Category == c {
			list = append(list, r.Changes[i])
		}
	}
	return list
}

func (p *printer) changes() {
	for _, c := range Categories() {
		list := p.r.of(c)
		if len(list) == 0 {
			continue
		}
		fmt.Fprintf(p.w, "\n%s %s\n", p.paint(bold, string(c)), p.paint(dim, counts(list)))
		for i := range list {
			if p.o.Limit > 0 && i == p.o.Limit {
				fmt.Fprintf(p.w, "  %s\n", p.paint(dim, fmt.Sprintf("… %d more", len(list)-i)))
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
	fmt.Fprintf(p.w, "\n%s %s\n", p.paint(bold, "usage"), p.paint(dim, "not compared"))
	fmt.Fprintf(p.w, "  %s\n  %s\n", p.paint(red, "- "+usageText(a)), p.paint(green, "+ "+usageText(b)))
}

func usageText(t Tokens) string {
	return fmt.Sprintf("%d in, %d out, %d cache read, %d cache write, %d in all, %.6g USD",
		t.Input, t.Output, t.CacheRead, t.CacheWrite, t.TotalTokens, t.Cost)
}

var marks = map[Kind]string{Added: "+", Removed: "-", Changed: "~", Moved: ">"}

var markColors = map[Kind]string{Added: green, Removed: red, Changed: yellow, Moved: cyan}

func (p *printer) change(c *Change) {
	title := text.Printable(c.Subject)
	if c.Path != "" && c.Path != "$" {
		title += " " + text.Printable(c.Path)
	}
	fmt.Fprintf(p.w, "  %s %s  %s\n", p.paint(markColors[c.Kind], marks[c.Kind]), title, p.paint(dim, where(c)))
	switch {
	case c.Kind == Added:
		p.lone("+", green, c.B)
	case c.Kind == Removed:
		p.lone("-", red, c.A)
	case c.Kind == Moved && equal(c.A, c.B):
		p.lone(" ", dim, c.A)
	default:
		p.both(c.A, c.B)
	}
}

// where says where a change stands: on one side, or on both.
func where(c *Change) string {
	a, b := sideText("a", c.PlaceA, c.UntilA), sideText("b", c.PlaceB, c.UntilB)
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + " | " + b
}

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
func counts(list []Change) string {
	n := map[Kind]int{}
	for i := range list {
		n[list[i].Kind]++
	}
	var parts []string
	for _, k := range []Kind{Added, Removed, Changed, Moved} {
		if n[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[k], k))
		}
	}
	return strings.Join(parts, ", ")
}

// stat is one line for each category.
func (p *printer) stat() {
	if p.r.Mode == OnlyCalls {
		if n := len(p.r.Mismatches); n > 0 {
			fmt.Fprintf(p.w, "%-10s %d\n", Calls, n)
		}
	}
	for _, c := range Categories() {
		if list := p.r.of(c); len(list) > 0 {
			fmt.Fprintf(p.w, "%-10s %5d  %s\n", c, len(list), counts(list))
		}
	}
}
