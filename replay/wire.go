package replay

import (
	"crypto/sha256"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// unit is what pairing and digest need to know of a message.
type unit struct {
	role   transcript.Role
	hidden bool // converts to nothing
	failed bool
	calls  []callRef
	result string // the call that a result answers
	leaf   sum    // digest of the message
	known  bool   // leaf is set
}

type callRef struct{ id, name string }

func unitOf(m *transcript.Message) unit {
	u := unit{role: m.Role, failed: m.Failed()}
	switch m.Role {
	case transcript.Assistant:
		for _, c := range m.Calls() {
			u.calls = append(u.calls, callRef{c.ID, c.Name})
		}
	case transcript.ToolResult:
		u.result = m.ToolCallID
	}
	return u
}

// own makes the unit independent of the line that the message stands in.
func (u *unit) own() {
	u.result = strings.Clone(u.result)
	for i, c := range u.calls {
		u.calls[i] = callRef{strings.Clone(c.id), strings.Clone(c.name)}
	}
}

// lost is u after an edit whose outcome cannot be known any more.
func (u *unit) lost() *unit {
	l := *u
	l.known = false
	return &l
}

// slim trades the message of a node for its unit. System messages stay: there
// are few, and a compaction folds them again. buf is room for the encoding; it
// is returned, maybe grown.
func (n *node) slim(buf []byte) []byte {
	if n.kind != messageNode || n.msg == nil {
		return buf
	}
	view, keep, _ := convert(n.msg)
	n.unit = &unit{hidden: true}
	if keep {
		*n.unit = unitOf(&view)
		n.unit.own()
		buf = appendSent(buf[:0], &view)
		n.unit.leaf, n.unit.known = sha256.Sum256(buf), true
	}
	if n.msg.Role != transcript.System {
		n.msg = nil
	}
	return buf
}

// pairing follows the calls of a history and says which of them nothing
// answers: a call needs its result before the next user or assistant message.
type pairing struct {
	open []callRef
	held []transcript.Message // system messages between a call and its results
}

// next takes the next message that is no system message. Missing are the calls
// to answer before it; drop says that it is left out itself.
func (p *pairing) next(u unit) (missing []callRef, drop bool) {
	switch u.role {
	case transcript.User:
		missing, p.open = p.open, nil
	case transcript.Assistant:
		missing, p.open = p.open, nil
		if u.failed {
			return missing, true
		}
		p.open = u.calls
	case transcript.ToolResult:
		var open []callRef
		for _, c := range p.open {
			if c.id != u.result {
				open = append(open, c)
			}
		}
		p.open = open
	}
	return missing, false
}

// waiting reports whether a system message has to wait for results.
func (p *pairing) waiting() bool { return len(p.open) > 0 || len(p.held) > 0 }

// release gives the held system messages when m starts something new.
func (p *pairing) release(m *transcript.Message) []transcript.Message {
	if m.Role == transcript.ToolResult {
		return nil
	}
	held := p.held
	p.held = nil
	return held
}

// unanswered gives the calls that the end of the history leaves open.
func (p *pairing) unanswered() []callRef { return p.open }

// missingResult stands in for a result that the history does not have.
func missingResult(c callRef) transcript.Message {
	return transcript.Message{
		Role: transcript.ToolResult, ToolCallID: c.id, ToolName: c.name, IsError: true,
		Content: []transcript.Block{transcript.TextBlock("No result was recorded for this call.")},
	}
}

func appendMissing(ms []transcript.Message, calls []callRef) []transcript.Message {
	for _, c := range calls {
		ms = append(ms, missingResult(c))
	}
	return ms
}

// wire is the mode-none projection of a context that grows. It remembers how
// far it got, so each message is projected once.
type wire struct {
	consumed int
	messages []transcript.Message
	pairing  pairing
	tools    ToolSet
	prompt   Prompt
	list     []transcript.Tool // of tools, at version listed
	listed   int
	declared *declared // of list
	text     string    // of prompt
	chain    chain     // over messages, as far as a digest was asked for
}

func (w *wire) clone() *wire {
	if w == nil {
		return nil
	}
	c := *w
	c.messages = c.messages[:len(c.messages):len(c.messages)]
	return &c
}

// project gives r, whose messages are this wire's, as sent.
func (w *wire) project(r Request) Request {
	if len(r.Messages) < w.consumed {
		// An older request than the last one: it gets a projection of its own.
		w = new(wire)
	}
	for ; w.consumed < len(r.Messages); w.consumed++ {
		w.step(&r.Messages[w.consumed])
	}
	if w.listed != w.tools.Version() || w.list == nil {
		w.list, w.listed, w.declared = w.tools.Tools(), w.tools.Version(), new(declared)
	}
	r.System, r.Tools = w.text, w.list
	r.Messages = w.messages[:len(w.messages):len(w.messages)]
	r.chain, r.declared = &w.chain, w.declared
	if open := w.pairing.unanswered(); len(open) > 0 {
		r.Messages, r.chain = appendMissing(r.Messages, open), nil
	}
	return r
}

func (w *wire) step(m *transcript.Message) {
	if m.Role == transcript.System {
		w.tools, w.prompt = w.tools.Apply(m, 0, ""), w.prompt.Apply(m)
		w.text = w.prompt.Text()
		return
	}
	missing, drop := w.pairing.next(unitOf(m))
	w.messages = appendMissing(w.messages, missing)
	if !drop {
		w.messages = append(w.messages, *m)
	}
}
