package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/turnlog/turnlog/replay/diff/internal/words"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/internal/align"
	"github.com/turnlog/turnlog/replay/text"
)

// textLines bounds the lines that are shown of one difference between texts.
const textLines = 12

// lone shows a value that one side has.
func (p *printer) lone(mark, code string, v any) {
	if v == nil {
		return
	}
	p.print("      %s\n", p.paint(code, mark+" "+text.Fit(text.Printable(jsondiff.Text(v)), p.o.Width-8)))
}

// both shows two values and what differs in them.
func (p *printer) both(a, b any) {
	x, isText := a.(string)
	y, alsoText := b.(string)
	if isText && alsoText && (strings.Contains(x, "\n") || strings.Contains(y, "\n")) {
		p.paragraphs(x, y)
		return
	}
	p.pair("      ", jsondiff.Text(a), jsondiff.Text(b))
}

// pair shows two lines of text with their differing words.
func (p *printer) pair(indent, a, b string) {
	x, y := words.Compare(text.Printable(a), text.Printable(b))
	p.line(indent, "-", x)
	p.line(indent, "+", y)
}

// line shows one of two lines, shortened around what differs; mark begins with
// - or +, or = for one that is both. Where there is no colour and the line is shortened, brackets mark the
// differing words.
func (p *printer) line(indent, mark string, segments []words.Segment) {
	code, codeOn, open, end := red, redOn, "[-", "-]"
	switch mark[0] {
	case '+':
		code, codeOn, open, end = green, greenOn, "{+", "+}"
	case '=':
		code = dim
	}
	shown, short := words.Shorten(segments, p.o.Width-len(indent)-utf8.RuneCountInString(mark)-1)
	p.print("%s%s", indent, p.paint(code, mark+" "))
	for _, s := range shown {
		switch {
		case s.Differs && p.o.Color:
			p.WriteString(p.paint(codeOn, s.Text))
		case s.Differs && short:
			p.WriteString(open + s.Text + end)
		default:
			p.WriteString(p.paint(code, s.Text))
		}
	}
	p.WriteByte('\n')
}

// paragraphs shows the lines that differ in two texts, with their numbers.
func (p *printer) paragraphs(a, b string) {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	pairs := align.NewPairing(len(x), len(y))
	align.Keys(x, y, pairs.Pair)
	shown, hidden := 0, 0
	for i, j := 0, 0; i < len(x) || j < len(y); {
		if i < len(x) && pairs.A[i] >= 0 && j < len(y) && pairs.B[j] >= 0 {
			i++
			j++
			continue
		}
		fromA, fromB := i, j
		for i < len(x) && pairs.A[i] < 0 {
			i++
		}
		for j < len(y) && pairs.B[j] < 0 {
			j++
		}
		size := i - fromA + j - fromB
		if shown+size > textLines && shown > 0 {
			hidden += size
			continue
		}
		shown += size
		hidden += p.hunk(x[fromA:i], y[fromB:j], fromA+1, fromB+1)
	}
	if hidden > 0 {
		p.print("      %s\n", p.paint(dim, fmt.Sprintf("… %s more differ", text.Plural(hidden, "line"))))
	}
}

// hunk shows lines that take each other's place and returns how many it does
// not show.
func (p *printer) hunk(a, b []string, lineA, lineB int) (hidden int) {
	if len(a) == len(b) && len(a) <= textLines/2 {
		for i := range a {
			p.pair(fmt.Sprintf("%6d ", lineA+i), a[i], b[i])
		}
		return 0
	}
	for _, side := range []struct {
		mark, code string
		lines      []string
		first      int
	}{{"-", red, a, lineA}, {"+", green, b, lineB}} {
		for i, line := range side.lines {
			if i == textLines/2 {
				hidden += len(side.lines) - i
				break
			}
			p.print("%6d %s\n", side.first+i, p.paint(side.code, side.mark+" "+text.Fit(text.Printable(line), p.o.Width-9)))
		}
	}
	return hidden
}
