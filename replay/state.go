package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// State is what a prefix of a transcript implies, along one path from the
// root. The zero value is the state before the first entry. Apply is total:
// it accepts any entry and never fails; what is wrong with one is for package
// verify to say.
//
// A State is used by one goroutine at a time.
type State struct {
	path []node // every entry applied, root first
	ctx  context

	leaf     string
	header   *transcript.Header
	model    ModelRef
	thinking string
	open     []transcript.Call
	usage    transcript.Usage
	turn     int
	asked    bool // a request was recorded and its answer has not come

	lean bool   // keeps digests of messages instead of the messages
	buf  []byte // room to encode a message in, of a lean state
}

// node is an entry of the path, as far as the context can ever need it again.
type node struct {
	id     string
	line   int
	kind   nodeKind
	msg    *transcript.Message // what the entry says; the checkpoint's system message of a compaction
	text   string              // summary of a compaction
	target string              // of an edit; first kept entry of a compaction
	edit   *transcript.ContextEdit
	unit   *unit // lean states only: what the digest needs of msg
}

type nodeKind uint8

const (
	plainNode   nodeKind = iota // no part of the context
	messageNode                 // message, custom_message, branch_summary
	compactionNode
	editNode
)

// NewLean returns a state that keeps digests of messages instead of the
// messages themselves, so that it folds files of any size: everything works
// but Context, Messages and Request. It holds on to no message of the user, the
// model or a tool, so the reader may lend it these (see transcript.Options).
func NewLean() *State { return &State{lean: true} }

// Apply folds one entry, which must be the child of the last one applied. The
// header of a session may be applied too; it is no part of the chain.
func (s *State) Apply(e *transcript.Entry) {
	if e.Type == transcript.TypeSession {
		s.header = e.Header
		return
	}
	id := s.own(e.ID)
	s.leaf = cmp.Or(id, s.leaf)
	n := node{id: id, line: e.Line}
	switch {
	case e.Message != nil:
		n.kind, n.msg = messageNode, e.Message
		s.count(e.Message)
	case e.Type == transcript.TypeCustomMessage && e.Custom != nil && e.Custom.Message != nil:
		n.kind, n.msg = messageNode, e.Custom.Message
	case e.Branch != nil && e.Branch.Summary != "":
		n.kind, n.msg = messageNode, summaryMessage(transcript.BranchSummaryRole, e.Branch.Summary)
	case e.Compaction != nil:
		n.kind, n.msg, n.text, n.target = compactionNode, e.Compaction.SystemMessage, e.Compaction.Summary, e.Compaction.FirstKeptEntryID
	case e.Edit != nil:
		n.kind, n.target, n.edit = editNode, e.Edit.TargetID, e.Edit
	default:
		s.note(e)
	}
	s.push(n)
}

// Append folds a message that is in no file.
func (s *State) Append(m transcript.Message) {
	s.count(&m)
	s.push(node{kind: messageNode, msg: &m})
}

func (s *State) push(n node) {
	if s.lean {
		s.buf = n.slim(s.buf)
	}
	s.path = push(s.path, n)
	switch n.kind {
	case messageNode:
		s.ctx.add(&n, s.lean)
	case compactionNode, editNode:
		s.ctx.rebuild(s.path, s.lean)
	}
}

// count keeps the facts that need no context: calls, turns, usage, the model.
func (s *State) count(m *transcript.Message) {
	switch m.Role {
	case transcript.Assistant:
		if m.Provider != s.model.Provider || m.Model != s.model.ID {
			s.model = ModelRef{Provider: s.own(m.Provider), ID: s.own(m.Model)}
		}
		addUsage(&s.usage, m.Usage)
		if !s.asked {
			s.turn++
		}
		s.asked = false
		if !m.Failed() {
			s.open = s.open[:len(s.open):len(s.open)]
			for _, c := range m.Calls() {
				s.open = append(s.open, s.ownCall(*c))
			}
		}
	case transcript.ToolResult:
		s.answer(m.ToolCallID)
	}
}

// own makes text that a lean state keeps independent of the line it stands in.
func (s *State) own(text string) string {
	if !s.lean {
		return text
	}
	return strings.Clone(text)
}

func (s *State) ownCall(c transcript.Call) transcript.Call {
	c.ID, c.Name, c.ArgumentsError = s.own(c.ID), s.own(c.Name), s.own(c.ArgumentsError)
	if s.lean {
		c.Arguments = bytes.Clone(c.Arguments)
	}
	return c
}

// answer closes the latest open call with that id. Ids may repeat in files of
// providers that number calls per turn.
func (s *State) answer(id string) {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].ID == id {
			open := append([]transcript.Call(nil), s.open[:i]...)
			s.open = append(open, s.open[i+1:]...)
			return
		}
	}
}

// note keeps facts of entries that are no part of the context.
func (s *State) note(e *transcript.Entry) {
	switch {
	case e.Model != nil:
		s.model = ModelRef{Provider: e.Model.Provider, ID: e.Model.ModelID}
	case e.Type == transcript.TypeThinking:
		s.thinking = e.Thinking
	case e.Custom != nil && e.Custom.CustomType == transcript.CustomRequest:
		var r struct {
			Attempt int `json:"attempt"`
		}
		// A record that does not parse still stands for a request.
		_ = json.Unmarshal(e.Custom.Data, &r)
		if r.Attempt <= 1 {
			s.turn++
		}
		s.asked = true
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

// Clone returns a state that can go another way. It costs the same however
// long the history is.
func (s *State) Clone() *State {
	c := *s
	// The clone may not append into memory that the original goes on filling.
	c.path = c.path[:len(c.path):len(c.path)]
	c.open = c.open[:len(c.open):len(c.open)]
	c.ctx = c.ctx.clone()
	c.buf = nil
	return &c
}

// Header is the session's header, nil if none was applied.
func (s *State) Header() *transcript.Header { return s.header }

// Leaf is the id of the last entry applied, "" before the first.
func (s *State) Leaf() string { return s.leaf }

// IDs yields the ids of the entries applied, root first, "" for messages that
// are in no file.
func (s *State) IDs() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range s.path {
			if !yield(s.path[i].id) {
				return
			}
		}
	}
}

// Len is the number of entries applied, the header not counted.
func (s *State) Len() int { return len(s.path) }

// ToolSet is the declared tools.
func (s *State) ToolSet() ToolSet { return s.ctx.tools }

// Tools returns the declared tools in declaration order.
func (s *State) Tools() []Declaration { return s.ctx.tools.Declared() }

// Removed returns the tools that were declared once and are not now.
func (s *State) Removed() []Removal { return s.ctx.tools.Removed() }

// Prompt is the folded system prompt.
func (s *State) Prompt() Prompt { return s.ctx.prompt }

// SystemPrompt is the folded system text: contents, then sections.
func (s *State) SystemPrompt() string { return s.ctx.prompt.Text() }

// Sections returns the named parts of the system prompt in order.
func (s *State) Sections() []transcript.Section { return s.ctx.prompt.Sections() }

// Model is the model of the last model change or answer.
func (s *State) Model() ModelRef { return s.model }

// Thinking is the thinking level, "off" if none was set.
func (s *State) Thinking() string { return cmp.Or(s.thinking, "off") }

// OpenCalls returns the calls of the path that have no result yet, those of
// failed answers left out. The slice is shared.
func (s *State) OpenCalls() []transcript.Call { return s.open }

// Turn counts the requests of the path: its turnlog.request entries, and the
// answers of turns that recorded none. A retried request counts once.
func (s *State) Turn() int { return s.turn }

// Usage sums the usage of the answers of the path, failed ones included.
func (s *State) Usage() transcript.Usage { return s.usage }
