package replay

import (
	"strings"

	"github.com/turnlog/turnlog/replay/internal/pmap"
	"github.com/turnlog/turnlog/replay/transcript"
)

// unit is what pairing needs to know of a message.
type unit struct {
	role   transcript.Role
	failed bool
	calls  []callRef
	result string // the call that a result answers
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

// pairing follows the calls of a history and says which of them nothing
// answers: a call needs its result before the next user or assistant message.
type pairing struct {
	open     []callRef                  // of the last answer
	answered pmap.Map[string, struct{}] // ids of those that have their result
	held     []transcript.Message       // system messages between a call and its results
}

// next takes the next message that is no system message. Missing are the calls
// to answer before it; drop says that it is left out itself.
func (p *pairing) next(u unit) (missing []callRef, drop bool) {
	switch u.role {
	case transcript.User:
		missing, p.open = p.unanswered(), nil
	case transcript.Assistant:
		missing, p.open = p.unanswered(), nil
		if u.failed {
			return missing, true
		}
		p.open = u.calls
	case transcript.ToolResult:
		if len(p.open) > 0 {
			p.answered = p.answered.Set(u.result, struct{}{})
		}
	}
	return missing, false
}

// waiting reports whether a system message has to wait for results.
func (p *pairing) waiting() bool { return len(p.unanswered()) > 0 || len(p.held) > 0 }

// release gives the held system messages when m starts something new.
func (p *pairing) release(m *transcript.Message) []transcript.Message {
	if m.Role == transcript.ToolResult {
		return nil
	}
	held := p.held
	p.held = nil
	return held
}

// unanswered gives the calls that the history leaves open so far.
func (p *pairing) unanswered() []callRef {
	if p.answered.Len() == 0 {
		return p.open
	}
	var open []callRef
	for _, c := range p.open {
		if _, ok := p.answered.Get(c.id); !ok {
			open = append(open, c)
		}
	}
	p.open, p.answered = open, pmap.Map[string, struct{}]{}
	return open
}

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
