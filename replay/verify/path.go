package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/internal/pmap"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Place is where something stands.
type Place struct {
	Line   int
	Column int    // in bytes from 1
	Entry  string // entry id; "" if the line has none

	index  uint32 // of the entry
	anchor string
}

// Finding makes a finding about the place.
func (at *Place) Finding(format string, args ...any) Finding {
	return Finding{
		Line: at.Line, Column: at.Column, Entry: at.Entry, anchor: at.anchor,
		Message: fmt.Sprintf(format, args...),
	}
}

// Turn is an assistant message of a path. It does not change once its entry was
// looked at, and holds on to no line.
type Turn struct {
	Place
	StopReason      string
	Provider, Model string
	Failed          bool // ended with an error or an abort: later requests leave it out

	// Continues says that the message is another part of the message before
	// it: both came with one response id.
	Continues bool

	// RepeatOf is the line of an earlier message of the path of which this is
	// a copy, 0 if there is none.
	RepeatOf int

	// Like is an earlier message of the path that says the same and has the
	// same call ids, where nothing in the two proves that one is a copy.
	Like Place

	response uint64 // hash of the response id, 0 without one
	content  uint64 // hash of the content
	time     int64  // of the message, in milliseconds; 0 without one
	copyKey  uint64 // of an answer without calls: key of all three, 0 for others
}

// Standing is how a called name stands to the declarations of the path.
type Standing uint8

const (
	Unknowable Standing = iota // the path does not tell
	Declared
	Removed    // it was declared, and taken away before the call
	Lapsed     // it was declared before a compaction that states no tools
	Undeclared // it never was declared
)

// Call is a tool call of a path.
type Call struct {
	Place
	Turn     *Turn
	ID, Name string
	Key      uint64 // equal for calls with equal name and arguments
	Standing Standing

	// DeclaredAt is the line of the declaration that was in force, if Standing
	// is Declared; Gone is the removal, if it is Removed or Lapsed.
	DeclaredAt int
	Gone       replay.Removal

	// Tool is that declaration. It and the arguments are there in
	// [Checker.Call] only.
	Tool           transcript.Tool
	Arguments      []byte
	ArgumentsError string

	Duplicates int // line of another call in the same message that has the id, 0 if there is none
	Reopens    int // line of an earlier, unanswered call with the id, 0 if there is none
	Reuses     int // line of an earlier, answered call with the id, 0 if there is none

	Answered int  // line of the result, 0 while there is none
	Open     bool // the exchange is still open: no user or assistant message came since

	suspicions []suspicion
	exchange   int // which exchange of the path it belongs to
	seq        int // place among the calls that are owed
}

// suspicion is a finding that becomes worse if the call ran.
type suspicion struct {
	rule    int
	finding Finding
	keep    func(*File, *Finding) bool
}

// forget drops what is only there while the call is looked at.
func (c *Call) forget() {
	c.Tool, c.Arguments, c.ArgumentsError = transcript.Tool{}, nil, ""
}

// own makes the turn independent of the line it was read from.
func (t *Turn) own() {
	t.StopReason, t.Provider, t.Model = strings.Clone(t.StopReason), strings.Clone(t.Provider), strings.Clone(t.Model)
}

// Before is the message before an entry on a path that a request would carry:
// system messages and failed turns left out.
type Before struct {
	Line int    // 0 if there is none
	Role string // user for everything that goes out as a user message; "" if it was dropped by an edit
}

// Path is what the history from the root to one entry implies, as far as rules
// need it. All that grows in it is persistent, so a copy costs the same however
// long the history is.
type Path struct {
	entries []uint32 // root first
	chain   uint64   // hash of the sequence's name

	began   bool // a message other than a system message has been seen
	severed bool // what was before the first entry is unknown
	partial bool // tools may have been declared in the unknown part
	cut     int  // line of the last damage that severed the path, 0 if there is none

	facts replay.Facts
	sent  replay.Sent
	asked bool // sent follows the path
	turn  *Turn
	calls
	memory []Memory // of the rules that have one, in their order
}

// calls are the calls of a path that may still matter.
type calls struct {
	exchange int  // number of the exchange that is open, or was last
	open     bool // an exchange is open

	owed  pmap.Map[string, *Call]   // by id: without a result, of this exchange and of earlier ones
	order pmap.Map[int, *Call]      // the same, in the order in which they were made
	made  int                       // calls that were ever owed
	due   int                       // of owed, those of this exchange
	turns pmap.Map[uint64, *owing]  // by content: the messages of owed calls
	loose pmap.Map[string, []*Call] // of this exchange: copies and calls of failed answers, nothing is owed for them
	done  pmap.Map[string, *Call]   // of this exchange: with their result

	judged int // calls made before this one are judged at the end of another path
}

// owing is a message some of whose calls are owed.
type owing struct {
	turn *Turn
	ids  []string
	left int
}

func (p *Path) tip() uint32 {
	if len(p.entries) == 0 {
		return none
	}
	return p.entries[len(p.entries)-1]
}

// clone returns an independent copy.
func (p *Path) clone() Path {
	c := *p
	c.memory = make([]Memory, len(p.memory))
	for i, m := range p.memory {
		c.memory[i] = m.Clone()
	}
	return c
}

// Tools is the declared tools.
func (p *Path) Tools() replay.ToolSet { return p.facts.ToolSet() }

// Facts is what the path implies.
func (p *Path) Facts() *replay.Facts { return &p.facts }

// ToolsKnown reports whether the path states all tools that are declared.
func (p *Path) ToolsKnown() bool { return p.facts.Stated() && !p.partial }

// ToolsPartial reports whether tools may have been declared in a part of the
// path that is lost.
func (p *Path) ToolsPartial() bool { return p.partial }

// Lapsed reports whether a tool was declared until a compaction that states no
// tools.
func (p *Path) Lapsed(name string) bool {
	r, ok := p.Tools().LookupRemoved(name)
	return ok && r.Line == p.facts.Bare()
}

// Began reports whether the path has a message other than a system message.
func (p *Path) Began() bool { return p.began || p.severed }

// Severed reports whether the beginning of the path is missing.
func (p *Path) Severed() bool { return p.severed }

// Before is the message that a request would carry last.
func (p *Path) Before() Before {
	if last := p.facts.Last(); last.Line > p.cut {
		return Before{Line: last.Line, Role: string(last.Role)}
	}
	return Before{}
}

// Owes reports whether a call of the open exchange is unanswered.
func (p *Path) Owes() bool { return p.due > 0 && !p.facts.Omits(p.turn.Entry) }

// Turn is the last assistant message. Its line is 0 if there was none.
func (p *Path) Turn() *Turn { return p.turn }

// standing looks a called name up.
func (p *Path) standing(c *Call) {
	if !p.facts.Stated() {
		return
	}
	declared, ok := p.Tools().Lookup(c.Name)
	if ok {
		c.Tool, c.DeclaredAt = declared.Tool, declared.Line
		c.Standing = Declared
	} else if c.Gone, ok = p.Tools().LookupRemoved(c.Name); ok {
		c.Standing = Removed
		if c.Gone.Line == p.facts.Bare() {
			c.Standing = Lapsed
		}
	} else if !p.partial {
		c.Standing = Undeclared
	}
}

// add notes a call that was made.
func (c *calls) add(call *Call) {
	call.exchange = c.exchange
	if call.Turn.Failed || call.Duplicates != 0 {
		if same, _ := c.loose.Get(call.ID); len(same) < maxCopies {
			c.loose = c.loose.Set(call.ID, append(same[:len(same):len(same)], call))
		}
		return
	}
	call.seq = c.made
	c.made++
	c.due++
	c.owed, c.order = c.owed.Set(call.ID, call), c.order.Set(call.seq, call)
	of := owing{turn: call.Turn}
	if was, ok := c.turns.Get(call.Turn.content); ok && was.turn == call.Turn {
		of = *was
	}
	of.ids, of.left = append(of.ids, call.ID), of.left+1
	c.turns = c.turns.Set(call.Turn.content, &of)
}

// maxCopies is how many calls with one id in one exchange are told apart.
const maxCopies = 16

// settle takes a call out of those that are owed.
func (c *calls) settle(call *Call) {
	c.owed, c.order = c.owed.Delete(call.ID), c.order.Delete(call.seq)
	if call.exchange == c.exchange {
		c.due--
	}
	if was, ok := c.turns.Get(call.Turn.content); ok && was.turn == call.Turn {
		of := *was
		if of.left--; of.left == 0 {
			c.turns = c.turns.Delete(call.Turn.content)
		} else {
			c.turns = c.turns.Set(call.Turn.content, &of)
		}
	}
}

// drop forgets the calls of messages with a content: nothing is owed for them.
func (c *calls) drop(content uint64) {
	of, ok := c.turns.Get(content)
	if !ok {
		return
	}
	for _, id := range of.ids {
		if call, ok := c.owed.Get(id); ok && call.Turn == of.turn {
			c.settle(call)
		}
	}
}

// close ends the open exchange: what it left unanswered is owed from now on.
func (c *calls) close() {
	c.exchange++
	c.due, c.open = 0, false
	c.loose, c.done = pmap.Map[string, []*Call]{}, pmap.Map[string, *Call]{}
}

// find finds the call of the open exchange that a result answers, nil if there
// is none: an unanswered one before an answered one, and of those with one id
// the one with the right name.
func (c *calls) find(m *transcript.Message) (call *Call, answered bool) {
	var open []*Call
	if o, ok := c.owed.Get(m.ToolCallID); ok && o.exchange == c.exchange {
		open = append(open, o)
	}
	same, _ := c.loose.Get(m.ToolCallID)
	open = append(open, same...)
	for _, o := range open {
		if o.Name == m.ToolName {
			return o, false
		}
	}
	if len(open) > 0 {
		return open[0], false
	}
	call, answered = c.done.Get(m.ToolCallID)
	return call, answered
}

// answer notes that a call of the open exchange has its result.
func (c *calls) answer(call *Call, line int) {
	now := *call
	now.Answered = line
	if same, ok := c.loose.Get(call.ID); ok && slices.Contains(same, call) {
		c.loose = c.loose.Set(now.ID, slices.DeleteFunc(slices.Clone(same), func(o *Call) bool { return o == call }))
	} else {
		c.settle(call)
	}
	c.done = c.done.Set(now.ID, &now)
}

// line is that of a call of the open exchange that has an id, 0 if there is
// none.
func (c *calls) line(id string) int {
	if o, ok := c.owed.Get(id); ok && o.exchange == c.exchange {
		return o.Line
	}
	if o, ok := c.done.Get(id); ok {
		return o.Line
	}
	if same, _ := c.loose.Get(id); len(same) > 0 {
		return same[0].Line
	}
	return 0
}
