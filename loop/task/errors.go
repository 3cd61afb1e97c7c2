package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Error is one thing that is wrong in a task file, and where.
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

// Errors is everything that is wrong in one or more task files, sorted by
// file and place.
type Errors []Error

// Error has one line per problem.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// compareErrors orders problems as a reader of the file meets them.
func compareErrors(a, b Error) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Msg, b.Msg),
	)
}

// problems collects errors. A task of a matrix is decoded once per cell, so
// one mistake is met many times; it is kept once.
type problems struct {
	file string
	seen map[Error]bool
	list Errors
}

// at reports a problem at a node.
func (p *problems) at(n *yaml.Node, hint, format string, args ...any) {
	p.add(n.Line, n.Column, hint, format, args...)
}

// add reports a problem at a place. A place before the file's start is its
// start: an empty document has no position.
func (p *problems) add(line, column int, hint, format string, args ...any) {
	e := Error{File: p.file, Line: max(line, 1), Column: max(column, 1), Msg: fmt.Sprintf(format, args...), Hint: hint}
	if p.seen[e] {
		return
	}
	if p.seen == nil {
		p.seen = map[Error]bool{}
	}
	p.seen[e] = true
	p.list = append(p.list, e)
}

// err is the sorted list, or nil.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortFunc(p.list, compareErrors)
	return p.list
}
