package transcript

import "github.com/turnlog/turnlog/replay/internal/jsonx"

// loan is memory that lines are read into and that is used again for later
// ones, see Options.Lend. One that is not lent gives everything memory of its
// own.
//
// Reading 1 GiB into fresh memory cost 1.5 GB of allocations; what they cost
// is less the collector's work than that each byte of a line was copied twice
// into memory that no cache had.
type loan struct {
	lent     bool
	entries  []Entry
	messages []Message
	blocks   []Block
	calls    []Call
	usages   []Usage
	text     jsonx.Arena
}

// copies returns a copy of items, in a slab of m if that is lent. It stays in
// place until the slab is reset: where append moves the slab, earlier elements
// live on in the old one.
func copies[T any](m *loan, slab *[]T, items ...T) []T {
	if !m.lent {
		return append(make([]T, 0, len(items)), items...)
	}
	start := len(*slab)
	*slab = append(*slab, items...)
	return (*slab)[start:len(*slab):len(*slab)]
}

// zero returns a zero element, like copies.
func zero[T any](m *loan, slab *[]T) *T {
	if !m.lent {
		return new(T)
	}
	*slab = append(*slab, *new(T))
	return &(*slab)[len(*slab)-1]
}

// takeBack ends the loan, and with it that of a buffer. Memory that an unusual
// line needed is let go. Scribble spoils what was lent, so that whoever keeps
// some of it is found out.
func (m *loan) takeBack(buf []byte, scribble bool) {
	if !m.lent {
		return
	}
	if scribble {
		m.scribble()
		fill(buf, '!')
	}
	m.entries, m.messages, m.blocks = m.entries[:0], m.messages[:0], m.blocks[:0]
	m.calls, m.usages = m.calls[:0], m.usages[:0]
	m.text.Reset()
	if cap(m.blocks) > jsonx.MaxKept/256 {
		m.blocks, m.calls = nil, nil
	}
}

func (m *loan) scribble() {
	const spoiled = "(memory that was on loan)"
	m.text.Fill('!')
	fill(m.entries, Entry{Type: spoiled, ID: spoiled, ParentID: spoiled, Line: -1})
	fill(m.messages, Message{Role: spoiled, StopReason: spoiled, ToolCallID: spoiled})
	fill(m.blocks, Block{Type: spoiled, Text: spoiled})
	fill(m.calls, Call{ID: spoiled, Name: spoiled, Arguments: []byte(spoiled)})
	fill(m.usages, Usage{Input: -1, Output: -1})
}

func fill[T any](list []T, v T) {
	for i := range list {
		list[i] = v
	}
}

// mayLend reports whether a line that was read is of a kind that is lent.
func (l *Line) mayLend() bool {
	if l.Damage != Intact || len(l.Records) == 0 {
		return l.Damage == Intact
	}
	e := &l.Records[0]
	if e.Type != TypeMessage || e.Message == nil {
		return partOf(e.Type) == nil
	}
	role := e.Message.Role
	return role == User || role == Assistant || role == ToolResult
}
