package replay

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/turnlog/turnlog/replay/internal/pmap"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Facts is what a prefix of a transcript implies along one path from the root,
// its messages aside: tools and where each was declared, prompt, model,
// thinking level, open calls, usage, and which entries are in effect. Apply
// takes one entry after the other, accepts anything and never fails; what is
// wrong with one is for package verify to say.
//
// Facts is a value: a copy is the state at that point and stays what it is
// while the original goes on, in another direction too. An entry costs
// O(log n), an edit of a system message what it folds anew: the system messages
// since it. It holds on to no line of a file but those of system messages,
// compactions and edits, so lines may be lent (see transcript.Options).
type Facts struct {
	applied  int // entries
	header   *transcript.Header
	model    ModelRef
	thinking string
	usage    transcript.Usage
	turn     int
	asked    bool // a request was recorded and its answer has not come
	open     openCalls

	tools   ToolSet
	prompt  Prompt
	systems *system // messages that tools and prompt are the sum of, newest first
	stated  bool
	bare    int
	sel     selection
	last    Last

	// where finds the place on the path of an entry that a compaction keeps
	// first; nil finds nothing.
	where func(id string) (at int, ok bool)
	whole bool // calls keep their arguments
}

// NewFacts returns the facts before the first entry. where finds the place of
// an entry on the path, from 0, by its id: of a compaction's first kept entry,
// the first one that has the id.
func NewFacts(where func(id string) (at int, ok bool)) Facts { return Facts{where: where} }

// Last is the message that a request would carry last: failed answers and
// system messages left out.
type Last struct {
	Line  int             // 0 if there is none, or an edit took it out
	Role  transcript.Role // user for everything that goes out as a user message
	entry string
}

// Apply folds one entry, which must be the child of the last one applied. The
// header of a session may be applied too; it is no part of the chain.
func (f *Facts) Apply(e *transcript.Entry) {
	if e.Type == transcript.TypeSession {
		f.header = e.Header
		return
	}
	n := nodeOf(e)
	f.apply(&n, e)
}

// ApplyHeader is Apply for a header alone.
func (f *Facts) ApplyHeader(h *transcript.Header) { f.header = h }

func (f *Facts) apply(n *node, e *transcript.Entry) {
	n.at = f.applied
	f.applied++
	switch n.kind {
	case messageNode:
		if e != nil && e.Message != nil {
			f.count(n.msg)
		}
		f.message(n)
	case compactionNode:
		f.compact(n)
	case editNode:
		f.edit(n)
	case plainNode:
		f.note(e)
	}
}

// message folds a message of the context.
func (f *Facts) message(n *node) {
	if n.msg.Role == transcript.System {
		f.declare(n)
		return
	}
	f.follow(n)
}

// follow makes n the last message, if a request would carry it.
func (f *Facts) follow(n *node) {
	role := n.msg.Role
	switch role {
	case transcript.User, transcript.ToolResult:
	case transcript.Assistant:
		if n.msg.Failed() {
			return
		}
	default:
		role = transcript.User
		if _, keep, _ := convert(n.msg); !keep && n.msg.Bash != nil {
			return
		}
	}
	f.last = Last{Line: n.line, Role: role, entry: f.own(n.id)}
}

// count keeps the facts that need no context: calls, turns, usage, the model.
func (f *Facts) count(m *transcript.Message) {
	switch m.Role {
	case transcript.Assistant:
		if m.Provider != f.model.Provider || m.Model != f.model.ID {
			f.model = ModelRef{Provider: f.own(m.Provider), ID: f.own(m.Model)}
		}
		addUsage(&f.usage, m.Usage)
		if !f.asked {
			f.turn++
		}
		f.asked = false
		if !m.Failed() {
			for _, c := range m.Calls() {
				f.open.add(f.ownCall(*c))
			}
		}
	case transcript.ToolResult:
		f.open.answer(m.ToolCallID)
	}
}

// own makes text independent of the line it stands in.
func (f *Facts) own(text string) string {
	if f.whole {
		return text
	}
	return strings.Clone(text)
}

func (f *Facts) ownCall(c transcript.Call) *transcript.Call {
	if !f.whole {
		c = transcript.Call{ID: strings.Clone(c.ID), Name: strings.Clone(c.Name)}
	}
	return &c
}

// note keeps facts of entries that are no part of the context.
func (f *Facts) note(e *transcript.Entry) {
	switch {
	case e == nil:
	case e.Model != nil:
		f.model = ModelRef{Provider: e.Model.Provider, ID: e.Model.ModelID}
	case e.Type == transcript.TypeThinking:
		f.thinking = e.Thinking
	case e.Custom != nil && e.Custom.CustomType == transcript.CustomRequest:
		var r struct {
			Attempt int `json:"attempt"`
		}
		// A record that does not parse still stands for a request.
		_ = json.Unmarshal(e.Custom.Data, &r)
		if r.Attempt <= 1 {
			f.turn++
		}
		f.asked = true
	}
}

func addUsage(sum, u *transcript.Usage) {
	if u == nil {
		return
	}
	sum.Input += u.Input
	sum.Output += u.Output
	sum.CacheRead += u.CacheRead
	sum.CacheWrite += u.CacheWrite
	sum.TotalTokens += u.TotalTokens
	sum.Reasoning += u.Reasoning
	sum.Cost.Input += u.Cost.Input
	sum.Cost.Output += u.Cost.Output
	sum.Cost.CacheRead += u.Cost.CacheRead
	sum.Cost.CacheWrite += u.Cost.CacheWrite
	sum.Cost.Total += u.Cost.Total
	sum.Has |= u.Has
}

// Header is the session's header, nil if none was applied.
func (f *Facts) Header() *transcript.Header { return f.header }

// Len is the number of entries applied, the header not counted.
func (f *Facts) Len() int { return f.applied }

// ToolSet is the declared tools.
func (f *Facts) ToolSet() ToolSet { return f.tools }

// Tools returns the declared tools in declaration order.
func (f *Facts) Tools() []Declaration { return f.tools.Declared() }

// Removed returns the tools that were declared once and are not now.
func (f *Facts) Removed() []Removal { return f.tools.Removed() }

// Stated reports whether a system message or a checkpoint was applied: from
// there on the tools that are declared are all there are.
func (f *Facts) Stated() bool { return f.stated }

// Bare is the line of the last compaction that states no tools, 0 if there is
// none. What was declared before it is removed there.
func (f *Facts) Bare() int { return f.bare }

// Prompt is the folded system prompt.
func (f *Facts) Prompt() Prompt { return f.prompt }

// SystemPrompt is the folded system text: contents, then sections.
func (f *Facts) SystemPrompt() string { return f.prompt.Text() }

// Sections returns the named parts of the system prompt in order.
func (f *Facts) Sections() []transcript.Section { return f.prompt.Sections() }

// Model is the model of the last model change or answer.
func (f *Facts) Model() ModelRef { return f.model }

// Thinking is the thinking level, "off" if none was set.
func (f *Facts) Thinking() string { return cmp.Or(f.thinking, "off") }

// Last is the message that a request would carry last.
func (f *Facts) Last() Last { return f.last }

// Omits reports whether an edit took the entry with an id out of requests.
func (f *Facts) Omits(id string) bool {
	e, ok := f.sel.editOf(id)
	return ok && e.replacement == nil
}

// OpenCalls returns the calls of the path that have no result yet, those of
// failed answers left out, oldest first. They have no arguments unless they are
// those of a [State].
func (f *Facts) OpenCalls() []transcript.Call { return f.open.list() }

// Turn counts the requests of the path: its turnlog.request entries, and the
// answers of turns that recorded none. A retried request counts once.
func (f *Facts) Turn() int { return f.turn }

// Usage sums the usage of the answers of the path, failed ones included.
func (f *Facts) Usage() transcript.Usage { return f.usage }

// openCalls are calls without a result, in the order in which they were made.
type openCalls struct {
	made  int
	calls pmap.Map[int, *transcript.Call]
	ids   pmap.Map[string, *sameID]
}

// sameID is the open calls that have one id, latest first: ids repeat in files
// of providers that number calls per turn.
type sameID struct {
	call   int
	before *sameID
}

func (o *openCalls) add(c *transcript.Call) {
	same, _ := o.ids.Get(c.ID)
	o.calls = o.calls.Set(o.made, c)
	o.ids = o.ids.Set(c.ID, &sameID{o.made, same})
	o.made++
}

// answer closes the latest open call with an id.
func (o *openCalls) answer(id string) {
	same, ok := o.ids.Get(id)
	if !ok {
		return
	}
	o.calls = o.calls.Delete(same.call)
	if same.before == nil {
		o.ids = o.ids.Delete(id)
	} else {
		c, _ := o.calls.Get(same.before.call)
		o.ids = o.ids.Set(c.ID, same.before) // a key of its own: id may be on loan
	}
}

func (o *openCalls) list() []transcript.Call {
	var list []transcript.Call
	for _, c := range o.calls.All() {
		list = append(list, *c)
	}
	return list
}
