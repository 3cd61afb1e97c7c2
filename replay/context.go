package replay

import (
	"slices"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Item is a message of the context and the entry it came from.
type Item struct {
	Entry   string // "" for a message that is in no file
	Line    int
	Message transcript.Message
}

// context is the messages that are in effect, as far as somebody asked for
// them. Along a path without compactions and edits it only grows.
type context struct {
	until    int // place of the first entry that is not in it
	epoch    int // of the selection that it was made by
	places   []place
	messages []transcript.Message
	model    []transcript.Message // messages as the model knows them; shares messages as long as they are the same
	diverged bool                 // model is a slice of its own
	wire     *wire                // projection so far, made on demand
}

type place struct {
	entry string
	line  int
}

func (c *context) clone() context {
	d := *c
	d.places = d.places[:len(d.places):len(d.places)]
	d.messages = d.messages[:len(d.messages):len(d.messages)]
	d.model = d.model[:len(d.model):len(d.model)]
	d.wire = c.wire.clone()
	return d
}

// context brings the messages up to date.
func (s *State) context() *context {
	c := &s.ctx
	from := c.until
	if c.epoch != s.sel.epoch {
		*c = context{epoch: s.sel.epoch}
		from = s.sel.kept
	}
	nodes := s.since(from)
	c.until = s.applied
	if from <= s.sel.compaction && s.sel.compacted {
		compaction := nodes[s.sel.compaction-from]
		for _, m := range s.sel.summary(compaction) {
			c.add(compaction, m)
		}
	}
	for _, n := range nodes {
		if m := s.sel.message(n); m != nil {
			c.add(n, m)
		}
	}
	return c
}

func (c *context) add(n *node, m *transcript.Message) {
	c.places = push(c.places, place{n.id, n.line})
	c.messages = push(c.messages, *m)
	c.extendModel()
}

// push appends and doubles the memory when it is full: a history of thousands
// of messages is copied once over its life that way, not four times as with
// append's own factor of 1.25.
func push[T any](s []T, v T) []T {
	if len(s) == cap(s) {
		s = slices.Grow(s, max(len(s), 4))
	}
	return append(s, v)
}

// extendModel converts the last message. Most messages convert to themselves,
// so the model's view shares their memory until one does not.
func (c *context) extendModel() {
	last := &c.messages[len(c.messages)-1]
	m, keep, same := convert(last)
	switch {
	case !c.diverged && same:
		c.model = c.messages
	case !c.diverged:
		c.diverged = true
		c.model = slices.Clone(c.messages[:len(c.messages)-1])
		if keep {
			c.model = append(c.model, m)
		}
	case keep:
		c.model = append(c.model, m)
	}
}

// Context returns the messages that are in effect, before conversion:
// compaction, edits and branch summaries applied.
func (s *State) Context() []Item {
	c := s.context()
	items := make([]Item, len(c.messages))
	for i, m := range c.messages {
		items[i] = Item{Entry: c.places[i].entry, Line: c.places[i].line, Message: m}
	}
	return items
}

// Messages is Context without the places. The slice is shared with the state
// and must not be changed.
func (s *State) Messages() []transcript.Message {
	c := s.context()
	return c.messages[:len(c.messages):len(c.messages)]
}
