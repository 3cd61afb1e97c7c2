package diff

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

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
	x, y := words(text.Printable(a), text.Printable(b))
	p.line(indent, "-", x)
	p.line(indent, "+", y)
}

// line shows one of two lines, shortened around what differs; mark begins with
// - or +, or = for one that is both. Where there is no colour and the line is shortened, brackets mark the
// differing words.
func (p *printer) line(indent, mark string, segments []segment) {
	code, codeOn, open, end := red, redOn, "[-", "-]"
	switch mark[0] {
	case '+':
		code, codeOn, open, end = green, greenOn, "{+", "+}"
	case '=':
		code = dim
	}
	shown, short := shortened(segments, p.o.Width-len(indent)-utf8.RuneCountInString(mark)-1)
	p.print("%s%s", indent, p.paint(code, mark+" "))
	for _, s := range shown {
		switch {
		case s.differs && p.o.Color:
			p.WriteString(p.paint(codeOn, s.text))
		case s.differs && short:
			p.WriteString(open + s.text + end)
		default:
			p.WriteString(p.paint(code, s.text))
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

// segment is a part of a line that differs from the other line, or not.
type segment struct {
	text    string
	differs bool
}

// mostWords bounds what is compared word by word; longer lines are compared as
// a beginning, a middle that differs and an end.
const mostWords = 1 << 14

// words compares two lines word by word.
func words(a, b string) (x, y []segment) {
	p, q := tokens(a), tokens(b)
	same := [2][]bool{make([]bool, len(p)), make([]bool, len(q))}
	match := func(i, j int) { same[0][i], same[1][j] = true, true }
	if len(p)+len(q) <= mostWords {
		align.Keys(p, q, match)
	} else {
		ends(p, q, match)
	}
	x, y = segments(p, same[0]), segments(q, same[1])
	if common := length(x, false); 3*common < min(length(x, true), length(y, true))-common {
		return []segment{{text: a}}, []segment{{text: b}} // hardly a word in common: - and + say it all
	}
	return x, y
}

// length counts the bytes of a line, all of them or those that do not differ.
func length(line []segment, all bool) int {
	n := 0
	for _, s := range line {
		if all || !s.differs {
			n += len(s.text)
		}
	}
	return n
}

func ends(p, q []string, match func(i, j int)) {
	n := 0
	for n < min(len(p), len(q)) && p[n] == q[n] {
		match(n, n)
		n++
	}
	for i, j := len(p)-1, len(q)-1; i >= n && j >= n && p[i] == q[j]; i, j = i-1, j-1 {
		match(i, j)
	}
}

// tokens splits a line into words, runs of spaces, and other characters.
func tokens(s string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 3
	}
	var list []string
	start, was := 0, 0
	for i, r := range s {
		now := class(r)
		if i > 0 && (now != was || now == 3) {
			list = append(list, s[start:i])
			start = i
		}
		was = now
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}

// segments joins tokens with the same fate. Spaces between two words that
// differ differ with them: so they read as one change.
func segments(tokens []string, same []bool) []segment {
	var list []segment
	start := 0 // of the segment: joined at its end, as adding word by word takes hours for a line of millions
	differs := func(i int) bool {
		return !same[i] || i > 0 && i+1 < len(tokens) && !same[i-1] && !same[i+1] && strings.TrimSpace(tokens[i]) == ""
	}
	for i := range tokens {
		if i+1 == len(tokens) || differs(i+1) != differs(i) {
			list = append(list, segment{strings.Join(tokens[start:i+1], ""), differs(i)})
			start = i + 1
		}
	}
	return list
}

// shortened makes a line fit into width columns: what differs stays, with some
// of what stands around it.
func shortened(line []segment, width int) (shown []segment, short bool) {
	const around = 24
	total, width := 0, max(width, 2*around)
	for _, s := range line {
		total += utf8.RuneCountInString(s.text)
	}
	if total <= width {
		return line, false
	}
	room := width
	for i, s := range line {
		switch {
		case s.differs:
			s.text = middleCut(s.text, max(around, width/2))
		case i == 0 && len(line) > 1:
			s.text = tail(s.text, around)
		case i == len(line)-1:
			s.text = text.Fit(s.text, max(around, min(room, width)))
		default:
			s.text = middleCut(s.text, 2*around)
		}
		if n := utf8.RuneCountInString(s.text); n <= room {
			room -= n
			shown = append(shown, s)
			continue
		}
		s.text = text.Fit(s.text, max(room, 1))
		return append(shown, s), true
	}
	return shown, true
}

func tail(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}

func middleCut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n/2]) + "…" + string(r[len(r)-(n-n/2-1):])
}
