package table

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	exprOpen  = "${{"
	exprClose = "}}"
)

// expand replaces the expressions in a text. A text that is exactly one
// expression keeps the type of what the expression names.
func (d *Decoder) expand(n *Node) (Scalar, bool) {
	if !strings.Contains(n.Value, exprOpen) {
		return Scalar{Kind: TextKind, Text: n.Value}, true
	}
	var out strings.Builder
	rest, whole, complete := n.Value, Scalar{}, true
	for seen := 0; ; seen++ {
		before, after, found := strings.Cut(rest, exprOpen)
		out.WriteString(before)
		if !found {
			break
		}
		expr, after, closed := cutUnquoted(after, exprClose)
		if !closed {
			line, column := d.locate(n, seen)
			d.add(line, column, Problem{Msg: "an expression that does not end", Hint: "close it with }}"})
			return Scalar{}, false
		}
		rest = after
		got, problem := d.evaluate(expr)
		if problem != nil {
			complete = false
			if problem.Msg != "" {
				line, column := d.locate(n, seen)
				d.add(line, column, *problem)
			}
		}
		if strings.TrimSpace(n.Value) == exprOpen+expr+exprClose {
			whole = got
			whole.whole = true
		} else if got.Kind == ListKind {
			d.At(n, "a list can only stand alone", "the list of %s inside of a text", strings.TrimSpace(expr))
			complete = false
		}
		out.WriteString(got.Text)
	}
	if whole.whole || !complete {
		return whole, complete
	}
	return Scalar{Kind: TextKind, Text: out.String()}, true
}

// cutUnquoted is strings.Cut at the first separator outside of quotes.
func cutUnquoted(s, sep string) (before, after string, found bool) {
	inQuotes := false
	for i := range len(s) {
		switch {
		case s[i] == '\'':
			inQuotes = !inQuotes
		case !inQuotes && strings.HasPrefix(s[i:], sep):
			return s[:i], s[i+len(sep):], true
		}
	}
	return s, "", false
}

// locate finds line and column of the n-th expression in a scalar. The tree
// only knows where the scalar starts, so the text of the file is searched from
// there; an escape in a quoted text can hide it, then the start of the scalar
// has to do.
func (d *Decoder) locate(n *Node, nth int) (line, column int) {
	for i := n.Line - 1; i >= 0 && i < len(d.lines); i++ {
		text, from := d.lines[i], 0
		if i == n.Line-1 {
			from = len(string([]rune(text)[:min(n.Column-1, utf8.RuneCountInString(text))]))
		}
		for ; ; nth-- {
			at := strings.Index(text[from:], exprOpen)
			if at < 0 {
				break
			}
			if nth == 0 {
				return i + 1, utf8.RuneCountInString(text[:from+at]) + 1
			}
			from += at + len(exprOpen)
		}
	}
	return n.Line, n.Column
}

var (
	exprText = regexp.MustCompile(`^'((?:[^']|'')*)'$`)
	exprName = regexp.MustCompile(`^([A-Za-z]+)\.([A-Za-z_][A-Za-z0-9_-]*)$`)
)

// evaluate gives what an expression stands for: the first alternative of
// a ?? b ?? 'text' that is set.
func (d *Decoder) evaluate(expr string) (Scalar, *Problem) {
	for rest, more := expr, true; ; {
		var term string
		term, rest, more = cutUnquoted(rest, "??")
		term = strings.TrimSpace(term)
		if m := exprText.FindStringSubmatch(term); m != nil {
			return Scalar{Kind: Untyped, Text: strings.ReplaceAll(m[1], "''", "'")}, nil
		}
		m := exprName.FindStringSubmatch(term)
		if m == nil {
			return Scalar{}, &Problem{Msg: "cannot read the expression " + Quote(strings.TrimSpace(expr)), Hint: d.Syntax}
		}
		got, problem := d.Lookup(m[1], m[2])
		if problem == nil || !problem.Unset || !more {
			return got, problem
		}
	}
}
