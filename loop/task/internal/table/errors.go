package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one thing that is wrong in a file, and where.
type Error struct {
	File   string
	Line   int    // from 1
	Column int    // from 1, in characters
	Msg    string // what is wrong: one line, lower case
	Hint   string // what to write instead; "" if there is nothing to suggest
}

// Error is the problem in one line, with its place in front.
func (e Error) Error() string {
	s := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Errors is everything that is wrong in one or more files.
type Errors []Error

// Error has one line per problem.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Sort orders problems as a reader of the files meets them.
func (e Errors) Sort() {
	slices.SortFunc(e, func(a, b Error) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Msg, b.Msg),
		)
	})
}

// Problem is what is wrong with a value whose place somebody else knows.
type Problem struct {
	Msg, Hint string
	Unset     bool // a name that could have a value has none
}

// At reports a problem at a node.
func (d *Decoder) At(n *Node, hint, format string, args ...any) {
	d.add(n.Line, n.Column, Problem{Msg: fmt.Sprintf(format, args...), Hint: hint})
}

// add reports a problem at a place. A place before the file's start is its
// start: an empty document has no position. A matrix has a value read once per
// cell, so one mistake is met many times; it is kept once.
func (d *Decoder) add(line, column int, p Problem) {
	d.reports++
	e := Error{File: d.File, Line: max(line, 1), Column: max(column, 1), Msg: p.Msg, Hint: p.Hint}
	if d.seen[e] {
		return
	}
	d.seen[e] = true
	d.list = append(d.list, e)
}

// Err is the sorted list of problems, an [Errors], or nil.
func (d *Decoder) Err() error {
	if len(d.list) == 0 {
		return nil
	}
	d.list.Sort()
	return d.list
}
