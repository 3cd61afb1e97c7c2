package replay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Cut is a position in a transcript: after a line, after an entry, when a
// request went out, or the end. The zero value is the end.
type Cut struct {
	Line  int    // physical line, from 1
	Entry string // entry id
	Turn  int    // request of the path, from 1
}

// ParseCut reads `line:N`, `entry:ID`, `turn:N`, `end`, or a bare line number.
func ParseCut(s string) (Cut, error) {
	kind, value, found := strings.Cut(s, ":")
	if !found {
		kind, value = "line", s
	}
	n, err := strconv.Atoi(value)
	switch {
	case s == "end":
		return Cut{}, nil
	case kind == "entry" && value != "":
		return Cut{Entry: value}, nil
	case kind == "line" && err == nil && n > 0:
		return Cut{Line: n}, nil
	case kind == "turn" && err == nil && n > 0:
		return Cut{Turn: n}, nil
	}
	return Cut{}, fmt.Errorf("cut %q: want line:N, entry:ID, turn:N, end, or a line number (N from 1)", s)
}

func (c Cut) String() string {
	switch {
	case c.Entry != "":
		return "entry:" + c.Entry
	case c.Line > 0:
		return "line:" + strconv.Itoa(c.Line)
	case c.Turn > 0:
		return "turn:" + strconv.Itoa(c.Turn)
	}
	return "end"
}

// CutError says that a file does not have the position that was asked for.
type CutError struct {
	Cut  Cut
	Leaf string
	Msg  string
}

func (e *CutError) Error() string {
	if e.Leaf != "" {
		return fmt.Sprintf("leaf %s: %s", e.Leaf, e.Msg)
	}
	return fmt.Sprintf("cut %s: %s", e.Cut, e.Msg)
}

// Position is where a cut fell.
type Position struct {
	Line  int    `json:"line"`  // of the last entry that counts; 0 before the first
	Entry string `json:"entry"` // its id
	Turn  int    `json:"turn"`  // requests of the path so far
}

// At folds the path that ends at a cut. The path is that to leaf, an entry id;
// "" is the last entry of the file, as pi opens it. A cut at a line or entry
// makes that entry the leaf (the last good one before it, if the line has
// none), unless a leaf is named: then the path to the leaf is cut there. The
// error is a *CutError.
func (t *Tree) At(c Cut, leaf string) (*State, Position, error) {
	end := len(t.Entries) - 1
	if leaf != "" {
		i, ok := t.Find(leaf)
		if !ok {
			return nil, Position{}, &CutError{Leaf: leaf, Msg: "no entry has this id"}
		}
		end = i
	}
	last, err := t.resolve(c, end, leaf != "")
	if err != nil {
		return nil, Position{}, err
	}
	s := t.State(last)
	return s, t.position(last, s), nil
}

func (t *Tree) position(i int, s *State) Position {
	if i < 0 {
		return Position{}
	}
	return Position{Line: t.Entries[i].Line, Entry: t.Entries[i].ID, Turn: s.Turn()}
}

// resolve finds the entry that a cut takes as leaf, -1 for none.
func (t *Tree) resolve(c Cut, end int, named bool) (int, error) {
	switch {
	case c.Entry != "":
		return t.resolveEntry(c, end, named)
	case c.Line > t.lines:
		return 0, &CutError{Cut: c, Msg: fmt.Sprintf("the file has %d lines", t.lines)}
	case c.Line > 0:
		return t.resolveLine(c.Line, end, named), nil
	case c.Turn > 0:
		return t.resolveTurn(c, end)
	}
	return end, nil
}

func (t *Tree) resolveEntry(c Cut, end int, named bool) (int, error) {
	i, ok := t.Find(c.Entry)
	if !ok {
		return 0, &CutError{Cut: c, Msg: "no entry has this id"}
	}
	if named {
		if slices.Contains(t.Path(end), i) {
			return i, nil
		}
		return 0, &CutError{Cut: c, Msg: "the entry is not on the path to the leaf"}
	}
	return i, nil
}

func (t *Tree) resolveLine(line, end int, named bool) int {
	last := -1
	if named {
		for _, at := range t.Path(end) {
			if t.Entries[at].Line <= line {
				last = at
			}
		}
		return last
	}
	for i := range t.Entries {
		if t.Entries[i].Line > line {
			break
		}
		last = i
	}
	return last
}

// resolveTurn finds the entry after which request N of the path went out.
func (t *Tree) resolveTurn(c Cut, end int) (int, error) {
	s, last := t.start(), -1
	for _, at := range t.Path(end) {
		e := &t.Entries[at]
		before := s.Turn()
		s.Apply(e)
		if s.Turn() > before && s.Turn() == c.Turn {
			if e.Message != nil {
				return last, nil // an answer without a recorded request
			}
			return at, nil
		}
		last = at
	}
	return 0, &CutError{Cut: c, Msg: fmt.Sprintf("the path has %d turns", s.Turn())}
}
