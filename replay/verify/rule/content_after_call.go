package rule

import (
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func contentAfterCall() verify.Rule {
	return verify.Rule{
		ID:       "content-after-call",
		Group:    groupOrder,
		Severity: verify.Warning,
		Title:    "text follows a tool call inside one assistant message",
		Why: "Anthropic refuses the message when it is replayed, as if the result were missing (anomalyco/opencode#5750, #7002: a retry appended to the aborted message), " +
			"and what a model says after its call is often an invented result (claude-code#71806). A note where only thinking trails the call.",
		Fix:   "Put text before calls, or end the message at the call.",
		Quiet: "Reasoning between calls, and the parts of providers that allow it (Responses, Gemini).",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}},{"type":"text","text":"It says 7."}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"a"},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}},{"type":"thinking","thinking":"b"},{"type":"toolCall","id":"c2","name":"read","arguments":{"path":"y"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c2","toolName":"read","content":[{"type":"text","text":"2"}],"isError":false}}
`,
		New: stateless(verify.Checker{Message: func(p *verify.Pass, m *transcript.Message) {
			if m.Role != transcript.Assistant || m.Failed() || mixesParts(m) {
				return
			}
			switch afterCall(m) {
			case transcript.BlockText:
				p.Report(p.Finding("text follows a tool call in this message"))
			case transcript.BlockThinking:
				f := p.Finding("thinking follows the last tool call of this message")
				f.Severity = verify.Note
				p.Report(f)
			}
		}}),
	}
}

// mixesParts reports whether the provider allows text anywhere in an answer.
func mixesParts(m *transcript.Message) bool {
	for _, s := range []string{m.API, m.Provider, m.Model} {
		s = strings.ToLower(s)
		if strings.Contains(s, "responses") || strings.Contains(s, "google") || strings.Contains(s, "gemini") || strings.Contains(s, "vertex") {
			return true
		}
	}
	return false
}

// afterCall is the type of block that stands after a call: text anywhere after
// one, else thinking after the last, else "".
func afterCall(m *transcript.Message) string {
	called, last := false, ""
	for i := range m.Content {
		switch b := &m.Content[i]; {
		case b.Type == transcript.BlockToolCall:
			called, last = true, ""
		case b.Type == transcript.BlockText && called && strings.TrimSpace(b.Text) != "":
			return transcript.BlockText
		case b.Type == transcript.BlockThinking && called:
			last = transcript.BlockThinking
		}
	}
	return last
}
