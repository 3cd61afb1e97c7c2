package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay"
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
// need it. It is small, and copied where the history may fork.
type Path struct {
	tip, root uint32
	depth     int

	began   bool // a message other than a system message has been seen
	severed bool // what was before the first entry is unknown
	partial bool // tools may have been declared in the unknown part
	states  bool // a system message or a checkpoint has been seen, so tools are known from there on
	bare    int  // line of the last compaction that states no tools, 0 if there is none

	tools  replay.ToolSet
	fold   *replay.State // lean; nil if the file records no requests
	turn   *Turn
	calls  []Call // of the exchange
	open   bool   // the exchange is open
	late   []Call // unanswered calls of earlier exchanges, oldest first
	before Before

	memory []Memory // of the rules that have one, in their order
}

func newPath(severed bool) *Path {
	return &Path{tip: none, root: none, severed: severed, partial: severed, turn: &Turn{Place: Place{index: none}}}
}

// clone returns an independent copy, which holds on to no line but those that
// declared tools.
func (p *Path) clone() *Path {
	c := *p
	c.calls, c.late = slices.Clone(p.calls), slices.Clone(p.late)
	for i := range c.calls {
		c.calls[i].suspicions = slices.Clip(c.calls[i].suspicions)
	}
	if p.fold != nil {
		c.fold = p.fold.Clone()
	}
	c.memory = slices.Clone(p.memory)
	for i, m := range c.memory {
		c.memory[i] = m.Clone()
	}
	return &c
}

// Tools is the declared tools.
func (p *Path) Tools() replay.ToolSet { return p.tools }

// ToolsKnown reports whether the path states all tools that are declared.
func (p *Path) ToolsKnown() bool { return p.states && !p.partial }

// ToolsPartial reports whether tools may have been declared in a part of the
// path that is lost.
func (p *Path) ToolsPartial() bool { return p.partial }

// Lapsed reports whether a tool was declared until a compaction that states no
// tools.
func (p *Path) Lapsed(name string) bool {
	r, ok := p.tools.LookupRemoved(name)
	return ok && r.Line == p.bare
}

// Began reports whether the path has a message other than a system message.
func (p *Path) Began() bool { return p.began || p.severed }

// Severed reports whether the beginning of the path is missing.
func (p *Path) Severed() bool { return p.severed }

// Before is the message that a request would carry last.
func (p *Path) Before() Before { return p.before }

// Owes reports whether a call of the open exchange is unanswered.
func (p *Path) Owes() bool {
	return slices.ContainsFunc(p.calls, func(c Call) bool { return c.Answered == 0 && c.Duplicates == 0 && !c.Turn.Failed })
}

// Turn is the last assistant message. Its line is 0 if there was none.
func (p *Path) Turn() *Turn { return p.turn }

// Calls are the calls of the last assistant message, while its exchange is
// open.
func (p *Path) Calls() []Call { return p.calls }

// Fold is the fold of the path in a file that records requests, else nil.
func (p *Path) Fold() *replay.State { return p.fold }

// standing looks a called name up.
func (p *Path) standing(c *Call) {
	if !p.states {
		return
	}
	declared, ok := p.tools.Lookup(c.Name)
	if ok {
		c.Tool, c.DeclaredAt = declared.Tool, declared.Line
		c.Standing = Declared
	} else if c.Gone, ok = p.tools.LookupRemoved(c.Name); ok {
		c.Standing = Removed
		if c.Gone.Line == p.bare {
			c.Standing = Lapsed
		}
	} else if !p.partial {
		c.Standing = Undeclared
	}
}

// drop forgets the calls of an assistant message: nothing is owed for them.
func (p *Path) drop(match func(*Turn) bool) {
	ofTurn := func(c Call) bool { return match(c.Turn) }
	p.calls = slices.DeleteFunc(p.calls, ofTurn)
	p.late = slices.DeleteFunc(p.late, ofTurn)
}
