package transcript

import "github.com/turnlog/turnlog/replay/internal/jsonx"

// loan is memory that lines are read into and that is used again for later
// ones, see Options.Lend. A nil loan gives everything memory of its own.
//
// Reading 1 GiB into fresh memory cost 1.5 GB of allocations; what they cost
// is less the collector's work than that each byte of a line was copied twice
// into memory that no cache had.
type loan struct {
	entries  []Entry
	messages []Message
	blocks   []Block
	calls    []Call
	usages   []Usage
	text     jsonx.Arena
}

// slot returns a zero element of a slab, which stays in place until the slab
// is reset: where append moves the slab, earlier elements live on in the old
// one.
func slot[T any](slab *[]T) *T {
	var zero T
	*slab = append(*slab, zero)
	return &(*slab)[len(*slab)-1]
}

func (m *loan) entry() []Entry {
	if m == nil {
		return make([]Entry, 1)
	}
	slot(&m.entries)
	return m.entries[len(m.entries)-1:]
}

func (m *loan) message() *Message {
	if m == nil {
		return new(Message)
	}
	return slot(&m.messages)
}

func (m *loan) call() *Call {
	if m == nil {
		return new(Call)
	}
	return slot(&m.calls)
}

func (m *loan) usage() *Usage {
	if m == nil {
		return new(Usage)
	}
	return slot(&m.usages)
}

// list returns a copy of blocks.
func (m *loan) list(blocks ...Block) []Block {
	if m == nil {
		return append(make([]Block, 0, len(blocks)), blocks...)
	}
	start := len(m.blocks)
	m.blocks = append(m.blocks, blocks...)
	return m.blocks[start:len(m.blocks):len(m.blocks)]
}

// reset takes everything back. Memory that an unusual line needed is let go.
func (m *loan) reset() {
	m.entries, m.messages, m.blocks = m.entries[:0], m.messages[:0], m.blocks[:0]
	m.calls, m.usages = m.calls[:0], m.usages[:0]
	m.text.Reset()
	if cap(m.blocks) > jsonx.MaxKept/256 {
		m.blocks, m.calls = nil, nil
	}
}

// scribble spoils what is on loan, so that whoever keeps some of it is found
// out.
func (m *loan) scribble() {
	m.text.Fill(spoiledByte)
	for i := range m.entries {
		m.entries[i] = Entry{Type: spoiled, ID: spoiled, ParentID: spoiled, Line: -1}
	}
	for i := range m.messages {
		m.messages[i] = Message{Role: spoiled, StopReason: spoiled, ToolCallID: spoiled}
	}
	for i := range m.blocks {
		m.blocks[i] = Block{Type: spoiled, Text: spoiled}
	}
	for i := range m.calls {
		m.calls[i] = Call{ID: spoiled, Name: spoiled, Arguments: []byte(spoiled)}
	}
	for i := range m.usages {
		m.usages[i] = Usage{Input: -1, Output: -1}
	}
}

const (
	spoiled     = "(memory that was on loan)"
	spoiledByte = '!'
)

func spoil(b []byte) {
	for i := range b {
		b[i] = spoiledByte
	}
}

// mayLend reports whether a line that was read is of a kind that is lent.
func (l *Line) mayLend() bool {
	switch {
	case l.Damage != Intact:
		return false
	case len(l.Records) == 0:
		return true
	}
	e := &l.Records[0]
	if e.Type != TypeMessage || e.Message == nil {
		return partOf(e.Type) == nil
	}
	switch e.Message.Role {
	case User, Assistant, ToolResult:
		return true
	}
	return false
}
