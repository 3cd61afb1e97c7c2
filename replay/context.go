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

// context is the part of a path that is in effect: the latest compaction and
// what it kept, edits applied. Along a path without compactions and edits it
// only grows.
type context struct {
	places   []place              // of each message
	messages []transcript.Message // empty in a lean state
	model    []transcript.Message // messages as the model knows them; shares messages as long as they are the same
	diverged bool                 // model is a slice of its own
	units    []*unit              // lean states only, which have nothing else of messages
	tools    ToolSet
	prompt   Prompt
	wire     *wire     // projection so far, made on demand
	lean     *leanWire // the same in a lean state
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
	d.units = d.units[:len(d.units):len(d.units)]
	d.wire = c.wire.clone()
	if c.lean != nil {
		l := *c.lean
		d.lean = &l
	}
	return d
}

// add appends what n says to the context.
func (c *context) add(n *node, lean bool) {
	if n.msg == nil && !lean {
		return
	}
	if n.msg != nil && n.msg.Role == transcript.System {
		c.tools = c.tools.Apply(n.msg, n.line, n.id)
		c.prompt = c.prompt.Apply(n.msg)
	}
	if lean {
		c.units = push(c.units, n.unit)
		return
	}
	c.places = push(c.places, place{n.id, n.line})
	c.messages = push(c.messages, *n.msg)
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

// rebuild selects the context of a path anew after a compaction or an edit.
func (c *context) rebuild(path []node, lean bool) {
	version := c.tools.version + 1
	selected, at := selectPath(path)
	edits := make(map[string]*node)
	for _, n := range selected {
		if n.kind == editNode {
			edits[n.target] = n
		}
	}
	*c = context{}
	if at >= 0 {
		c.startFrom(path[:at+1], edits[path[at].id], lean)
	}
	c.tools.version += version
	for _, n := range selected {
		if n.kind != messageNode {
			continue
		}
		if e, ok := edits[n.id]; ok && n.id != "" {
			if e.edit.Replacement == nil {
				continue
			}
			n = n.edited(e.edit.Replacement)
		}
		c.add(n, lean)
	}
}

// startFrom begins a context with the compaction that ends path, unless an
// edit dropped it. What the path declared before is remembered as removed.
func (c *context) startFrom(path []node, edit *node, lean bool) {
	compaction := &path[len(path)-1]
	dropped := edit != nil && edit.edit.Replacement == nil
	for i := range path {
		n := &path[i]
		switch {
		case n == compaction && dropped:
			c.tools = c.tools.Replace(nil, n.line, n.id)
		case n.kind == compactionNode:
			c.tools = c.tools.Replace(n.msg, n.line, n.id)
		case n.isSystem():
			c.tools = c.tools.Apply(n.msg, n.line, n.id)
		}
	}
	if !dropped {
		c.addCheckpoint(compaction, lean)
	}
}

// addCheckpoint adds the system message and the summary of a compaction.
func (c *context) addCheckpoint(n *node, lean bool) {
	tools := c.tools
	if n.msg != nil {
		system := node{id: n.id, line: n.line, kind: messageNode, msg: n.msg}
		if lean {
			system.slim(nil)
		}
		c.add(&system, lean)
		c.tools = tools // Replace has applied it already
	}
	summary := node{id: n.id, line: n.line, kind: messageNode, msg: summaryMessage(transcript.CompactionSummary, n.text)}
	if lean {
		summary.slim(nil)
	}
	c.add(&summary, lean)
}

// selectPath gives the nodes that count after the latest compaction of the
// path, which is at the place at (-1: there is none): those it kept, without
// their system messages, and those after it. An unknown first kept entry keeps
// nothing, as does the compaction's own id.
func selectPath(path []node) (selected []*node, at int) {
	at = -1
	for i := range path {
		if path[i].kind == compactionNode {
			at = i
		}
	}
	kept := false
	for i := range path[:max(at, 0)] {
		n := &path[i]
		kept = kept || n.id != "" && n.id == path[at].target
		if kept && !n.isSystem() {
			selected = append(selected, n)
		}
	}
	for i := at + 1; i < len(path); i++ {
		selected = append(selected, &path[i])
	}
	return selected, at
}

func (n *node) isSystem() bool {
	return n.kind == messageNode && n.msg != nil && n.msg.Role == transcript.System
}

// edited returns n with the content that an edit gave it. Prompts and the
// records of commands keep theirs.
func (n *node) edited(replacement *transcript.Message) *node {
	if n.msg == nil {
		return &node{id: n.id, line: n.line, kind: n.kind, unit: n.unit.lost()}
	}
	switch n.msg.Role {
	case transcript.User, transcript.Assistant, transcript.ToolResult, transcript.CustomRole:
	default:
		return n
	}
	m := *n.msg
	m.Content, m.Form = replacement.Content, replacement.Form
	if m.Role == transcript.Assistant || m.Role == transcript.ToolResult {
		m.Form = transcript.FormBlocks
	}
	return &node{id: n.id, line: n.line, kind: n.kind, msg: &m}
}

func summaryMessage(role transcript.Role, text string) *transcript.Message {
	return &transcript.Message{Role: role, Content: []transcript.Block{transcript.TextBlock(text)}}
}

// Context returns the messages that are in effect, before conversion:
// compaction, edits and branch summaries applied.
func (s *State) Context() []Item {
	items := make([]Item, len(s.ctx.messages))
	for i, m := range s.ctx.messages {
		items[i] = Item{Entry: s.ctx.places[i].entry, Line: s.ctx.places[i].line, Message: m}
	}
	return items
}

// Messages is Context without the places. The slice is shared with the state
// and must not be changed.
func (s *State) Messages() []transcript.Message {
	return s.ctx.messages[:len(s.ctx.messages):len(s.ctx.messages)]
}
