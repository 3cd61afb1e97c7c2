package diff

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/text"
)

// mismatches shows what mode calls found.
func (p *printer) mismatches() {
	r := p.r
	fmt.Fprintf(p.w, "%s  %s\n", p.paint(red, "--- "+text.Printable(r.A.Name)), p.paint(dim, text.Plural(len(r.A.calls), "call")))
	fmt.Fprintf(p.w, "%s  %s\n", p.paint(green, "+++ "+text.Printable(r.B.Name)), p.paint(dim, text.Plural(len(r.B.calls), "call")))
	fmt.Fprintf(p.w, "calls %s, arguments %s: %s\n", r.Sequence, r.Arguments, text.Plural(len(r.Mismatches), "difference"))
	for i, m := range r.Mismatches {
		if p.o.Limit > 0 && i == p.o.Limit {
			fmt.Fprintf(p.w, "  %s\n", p.paint(dim, fmt.Sprintf("… %d more", len(r.Mismatches)-i)))
			break
		}
		p.mismatch(&m)
	}
	p.changes() // damaged lines
}

func (p *printer) mismatch(m *Mismatch) {
	if m.Want >= 0 {
		p.call("-", red, "a", m.Want, &p.r.A.calls[m.Want])
	}
	if m.Got >= 0 {
		p.call("+", green, "b", m.Got, &p.r.B.calls[m.Got])
	}
	for i, f := range m.Fields {
		if p.o.Limit > 0 && i == p.o.Limit {
			fmt.Fprintf(p.w, "    %s\n", p.paint(dim, fmt.Sprintf("… %d more", len(m.Fields)-i)))
			break
		}
		kind := kindFor(f.InA, f.InB)
		fmt.Fprintf(p.w, "    %s %s\n", p.paint(markColors[kind], marks[kind]), text.Printable(f.Path))
		switch {
		case !f.InB:
			p.lone("-", red, f.A)
		case !f.InA:
			p.lone("+", green, f.B)
		default:
			p.both(f.A, f.B)
		}
	}
}

func (p *printer) call(mark, code, side string, n int, c *Call) {
	head := fmt.Sprintf("%s call %d, %s:%d turn %d: ", mark, n+1, side, c.Line, c.Turn)
	call := text.Printable(c.Name + " " + string(c.Arguments))
	fmt.Fprintf(p.w, "  %s%s\n", p.paint(code, head), text.Fit(call, max(20, p.o.Width-len(head)-2)))
}
