package rule

import (
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func thinkingSignature() verify.Rule {
	return verify.Rule{
		ID:       "thinking-signature",
		Group:    groupContent,
		Severity: verify.Warning,
		Title:    "signed reasoning was lost, emptied, or belongs to another model",
		Why: "Providers that sign reasoning refuse a turn in which it is missing or changed: Anthropic (thinking blocks cannot be modified, signature required), Gemini 3 (missing a thought_signature), DeepSeek (reasoning_content must be passed back) " +
			"(claude-code#63277, earendil-works/pi#9112, anomalyco/opencode#25005, microsoft/agent-framework#6963). A note where another model takes over inside a turn.",
		Fix:   "Keep reasoning blocks byte for byte as long as their turn goes on.",
		Quiet: "Empty text with a signature where the provider hides or encrypts reasoning, redacted blocks, further calls of one Gemini message, Gemini 2.5.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","provider":"anthropic","content":[{"type":"thinking","thinking":"so"},{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","provider":"google","model":"gemini-3-pro","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"},"thoughtSignature":"c2ln"},{"type":"toolCall","id":"c2","name":"read","arguments":{"path":"y"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c2","toolName":"read","content":[{"type":"text","text":"2"}],"isError":false}}
`,
		New: stateless(verify.Checker{
			Memory:  func() verify.Memory { return new(reasoning) },
			Message: func(p *verify.Pass, m *transcript.Message) { p.Memory().(*reasoning).message(p, m) },
			Leaf:    func(p *verify.Pass) { p.Memory().(*reasoning).end(p) },
		}),
	}
}

// reasoning is what the reasoning of a path looked like.
type reasoning struct {
	shown   string           // model that has shown thinking with text
	signer  string           // model of the last signed thinking of this turn
	signed  int              // its line
	pending []verify.Finding // Gemini checks the current turn only
}

func (r *reasoning) Clone() verify.Memory {
	c := *r
	c.pending = slices.Clip(c.pending)
	return &c
}

func (r *reasoning) message(p *verify.Pass, m *transcript.Message) {
	if m.Role == transcript.User {
		r.signer, r.pending = "", nil
		return
	}
	if m.Role != transcript.Assistant || m.Failed() {
		return
	}
	r.otherModel(p, m)
	calls := m.Calls()
	provider := strings.ToLower(m.Provider + " " + m.API)
	switch {
	case len(calls) == 0:
	case strings.Contains(provider, "anthropic"):
		r.anthropic(p, m)
	case strings.Contains(strings.ToLower(m.Model), "gemini-3") && firstSignature(m) == "":
		r.pending = append(r.pending, p.Finding("the first call of the message has no thought signature"))
	case strings.Contains(provider, "deepseek") && m.ThinkingLevel != "" && m.ThinkingLevel != "off" && !thinks(m):
		p.Report(p.Finding("the message with calls has lost its reasoning text"))
	}
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == transcript.BlockThinking && b.Text != "" {
			r.shown = strings.Clone(m.Model)
			if b.Signature != "" && len(calls) > 0 {
				r.signer, r.signed = strings.Clone(m.Model), p.Place().Line
			}
		}
	}
}

// otherModel notes that signed reasoning meets another model inside a turn.
func (r *reasoning) otherModel(p *verify.Pass, m *transcript.Message) {
	if r.signer == "" || m.Model == "" || m.Model == r.signer {
		return
	}
	f := p.Finding("%s goes on in a turn whose reasoning %s has signed", quote(m.Model), quote(r.signer))
	f.Severity = verify.Note
	f.Related = []verify.Related{{Line: r.signed, Message: "the signed reasoning"}}
	r.signer = ""
	p.Report(f)
}

func (r *reasoning) anthropic(p *verify.Pass, m *transcript.Message) {
	for i := range m.Content {
		b := &m.Content[i]
		switch {
		case b.Type != transcript.BlockThinking || redacted(b):
		case b.Text != "" && b.Signature == "":
			p.Report(p.Finding("thinking before a call has no signature"))
			return
		case b.Text == "" && b.Signature != "" && (r.shown != "" && r.shown == m.Model || thinks(m)):
			p.Report(p.Finding("thinking was emptied but its signature kept"))
			return
		}
	}
}

func (r *reasoning) end(p *verify.Pass) {
	if !p.Active {
		return
	}
	for _, f := range r.pending {
		p.Report(f)
	}
}

func thinks(m *transcript.Message) bool {
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == transcript.BlockThinking && b.Text != "" {
			return true
		}
	}
	return false
}

func redacted(b *transcript.Block) bool {
	for _, f := range b.Extra {
		if f.Name == "redacted" && string(f.Value) == "true" {
			return true
		}
	}
	return false
}

// firstSignature is the signature of the first call.
func firstSignature(m *transcript.Message) string {
	for i := range m.Content {
		if m.Content[i].Type == transcript.BlockToolCall {
			return m.Content[i].Signature
		}
	}
	return ""
}
