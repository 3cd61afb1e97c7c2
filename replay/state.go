package replay

import (
	"cmp"
	"iter"
	"slices"

	"github.com/turnlog/turnlog/replay/transcript"
)

// State is what a prefix of a transcript implies: its [Facts], and the
// messages that are in effect. The zero value is the state before the first
// entry. Apply is total: it accepts any entry and never fails.
//
// A State is used by one goroutine at a time.
type State struct {
	Facts
	leaf  string
	tip   *node // the entries applied, linked from the last one to the root
	ctx   context
	first firsts // places of ids, for compactions
}

// Apply folds one entry, which must be the child of the last one applied. The
// header of a session may be applied too; it is no part of the chain.
func (s *State) Apply(e *transcript.Entry) {
	if e.Type == transcript.TypeSession {
		s.header = e.Header
		return
	}
	s.leaf = cmp.Or(e.ID, s.leaf)
	n := nodeOf(e)
	s.push(&n, e)
}

// Append folds a message that is in no file.
func (s *State) Append(m transcript.Message) {
	s.push(&node{kind: messageNode, msg: &m}, &transcript.Entry{Message: &m})
}

func (s *State) push(n *node, e *transcript.Entry) {
	s.whole = true
	if n.kind == compactionNode && s.where == nil {
		s.Facts.where = s.placeOf
		s.apply(n, e)
		s.Facts.where = nil
	} else {
		s.apply(n, e)
	}
	n.before = s.tip
	s.tip = n
}

// firsts are the places at which ids stand first on a path, as far as they were
// looked up.
type firsts struct {
	at    map[string]int
	until int
}

// placeOf finds the first entry of the path that has an id.
func (s *State) placeOf(id string) (int, bool) {
	if s.first.at == nil {
		s.first.at = make(map[string]int)
	}
	for _, n := range s.since(s.first.until) {
		if _, ok := s.first.at[n.id]; !ok && n.id != "" {
			s.first.at[n.id] = n.at
		}
	}
	if s.tip != nil {
		s.first.until = s.tip.at + 1
	}
	at, ok := s.first.at[id]
	return at, ok
}

// since gives the nodes from a place on, in order.
func (s *State) since(at int) []*node {
	var list []*node
	for n := s.tip; n != nil && n.at >= at; n = n.before {
		list = append(list, n)
	}
	slices.Reverse(list)
	return list
}

// Clone returns a state that can go another way. It costs the same however
// long the history is.
func (s *State) Clone() *State {
	c := *s
	// The clone may not append into memory that the original goes on filling.
	c.ctx = c.ctx.clone()
	c.first = firsts{}
	return &c
}

// Leaf is the id of the last entry applied, "" before the first.
func (s *State) Leaf() string { return s.leaf }

// IDs yields the ids of the entries applied, root first, "" for messages that
// are in no file.
func (s *State) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, n := range s.since(0) {
			if !yield(n.id) {
				return
			}
		}
	}
}
