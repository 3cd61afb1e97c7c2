package replay

import (
	"encoding/json"
	"slices"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Request is what a model is asked.
type Request struct {
	Model     ModelRef
	Thinking  string          // thinking level; "" or "off" if none is asked for
	Params    json.RawMessage // passed to the endpoint as they are; nil if none
	MaxTokens int64           // 0 leaves it to the endpoint

	// System and Tools are empty in the request that State.Request gives:
	// there, system messages stand in place among Messages and declare the
	// tools. Project fills them.
	System   string
	Tools    []transcript.Tool
	Messages []transcript.Message

	// wire is the projection that the state keeps of exactly these messages,
	// so that a turn does not cost more the longer the history is.
	wire  *wire
	first *transcript.Message // &Messages[0] when wire was attached

	// Of a projected request: what its digest is made of, as far as it is known.
	chain    *chain
	declared *declared
}

// ModelRef names a model.
type ModelRef struct {
	Provider string `json:"provider"`
	ID       string `json:"modelId"`
}

// Mode is how a transport carries changes of the prompt and the tool set.
type Mode string

// The modes. None folds all system messages into System and Tools. Additions
// keeps later prompt changes and added tools in place, as far as nothing after
// them was removed or declared again. Changes keeps everything in place, the
// leading system message too.
const (
	ModeNone      Mode = "none"
	ModeAdditions Mode = "additions"
	ModeChanges   Mode = "changes"
)

// Modes lists the modes.
func Modes() []Mode { return []Mode{ModeNone, ModeAdditions, ModeChanges} }

// Request is what the loop hands to a model at this point: the converted
// context with system messages in place. Its messages are shared with the
// state and must not be changed; the caller may set the other fields.
func (s *State) Request() Request {
	r := Request{Model: s.model, Thinking: s.Thinking()}
	c := s.context()
	r.Messages = c.model[:len(c.model):len(c.model)]
	if len(r.Messages) > 0 {
		if c.wire == nil {
			c.wire = new(wire)
		}
		r.wire, r.first = c.wire, &r.Messages[0]
	}
	return r
}

// Project gives the wire view of a request: failed answers are left out, calls
// that nothing answers get an error result, and system messages are carried as
// the mode says. A projected request must not be projected again.
func (r Request) Project(m Mode) Request {
	attached := r.wire
	if len(r.Messages) == 0 || r.first != &r.Messages[0] || m != ModeNone {
		attached = nil
	}
	r.wire, r.first = nil, nil
	switch m {
	case ModeAdditions:
		return r.projectInPlace(Folded(r.Messages, ModeAdditions))
	case ModeChanges:
		return r.projectInPlace(0)
	}
	if attached == nil {
		attached = new(wire)
	}
	return attached.project(r)
}

// Folded counts the system messages of ms whose declarations a transport of
// that mode carries outside the messages. One that can only add tools must
// fold the leading one, and all up to the last that removes a tool or declares
// a known name again; a removed name that comes back counts as known.
func Folded(ms []transcript.Message, m Mode) int {
	switch m {
	case ModeChanges:
		return 0
	case ModeAdditions:
		h := Declarations(ms)
		if len(ms) > 0 && ms[0].Role == transcript.System {
			return max(1, h.additive)
		}
		return h.additive
	}
	return Declarations(ms).messages
}

// History is what a list of messages did to the tool set, all told.
type History struct {
	NonAdditive bool // something was removed or declared again
	Redefined   bool // a name was declared with different definitions

	definitions []transcript.Tool // the last one of each name, by first declaration
	messages    int               // system messages
	additive    int               // system messages up to the last non-additive one
}

// Names returns every name that was ever declared, by first declaration.
func (h *History) Names() []string {
	var names []string
	for i := range h.definitions {
		names = append(names, h.definitions[i].Name)
	}
	return names
}

// Declarations reads the history of the tool set out of ms.
func Declarations(ms []transcript.Message) History {
	var h History
	for i := range ms {
		if ms[i].Role != transcript.System {
			continue
		}
		h.messages++
		again := len(ms[i].ToolsRemoved) > 0
		for _, t := range ms[i].ToolsAdded {
			again = h.define(t) || again
		}
		if again {
			h.NonAdditive, h.additive = true, h.messages
		}
	}
	return h
}

func (h *History) define(t transcript.Tool) (known bool) {
	at := slices.IndexFunc(h.definitions, func(d transcript.Tool) bool { return d.Name == t.Name })
	if at < 0 {
		h.definitions = append(h.definitions, t)
		return false
	}
	h.Redefined = h.Redefined || !SameDeclaration(&h.definitions[at], &t)
	h.definitions[at] = t
	return true
}

// projectInPlace keeps system messages among the messages. The declarations
// of the first folded ones go into Tools, and with them the text of a leading
// one into System.
func (r Request) projectInPlace(folded int) Request {
	var tools ToolSet
	var p pairing
	var out []transcript.Message
	n := 0
	for i := range r.Messages {
		m := r.Messages[i]
		if m.Role == transcript.System {
			if n++; n <= folded {
				tools = tools.Apply(&m, 0, "")
				m.ToolsAdded, m.ToolsRemoved = nil, nil
				if i == 0 {
					r.System = Prompt{}.Apply(&m).Text()
					continue
				}
				if UpdateText(&m) == "" {
					continue
				}
			}
			if p.waiting() {
				p.held = append(p.held, m)
				continue
			}
			out = append(out, m)
			continue
		}
		missing, drop := p.next(unitOf(&m))
		out = append(appendMissing(out, missing), p.release(&m)...)
		if !drop {
			out = append(out, m)
		}
	}
	out = appendMissing(out, p.unanswered())
	r.Messages, r.Tools = append(out, p.held...), tools.Tools()
	return r
}

// Collapse folds all system messages of ms into one leading system message.
// It is the transcript that a mode-none transport would have had.
func Collapse(ms []transcript.Message) []transcript.Message {
	var out []transcript.Message
	if head := SystemMessage(ms); head != nil {
		out = append(out, *head)
	}
	for i := range ms {
		if ms[i].Role != transcript.System {
			out = append(out, ms[i])
		}
	}
	return out
}

// SystemMessage folds all system messages of ms into one that states the whole
// prompt and tool set; nil if there is none.
func SystemMessage(ms []transcript.Message) *transcript.Message {
	var tools ToolSet
	var prompt Prompt
	head := transcript.Message{Role: transcript.System, Form: transcript.FormString}
	for i := range ms {
		if ms[i].Role != transcript.System {
			continue
		}
		if !prompt.stated {
			head.Timestamp = ms[i].Timestamp
		}
		tools, prompt = tools.Apply(&ms[i], 0, ""), prompt.Apply(&ms[i])
	}
	if !prompt.stated {
		return nil
	}
	if content := prompt.Content(); content != "" {
		head.Content = []transcript.Block{transcript.TextBlock(content)}
	}
	head.Sections = prompt.Sections()
	if tools.Len() > 0 {
		head.ToolsAdded = tools.Tools()
	}
	return &head
}
