package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func stopReasonMismatch() verify.Rule {
	return verify.Rule{
		ID:       "stop-reason-mismatch",
		Group:    groupStops,
		Severity: verify.Warning,
		Title:    "the stop reason says toolUse but the message has no call",
		Why:      "Loops that go by the stop reason spin or stop early (Kilo-Org/kilocode#7773: 173 empty messages, about 10 dollars; NousResearch/hermes-agent#75926: 9 of 12 jobs stalled with status ok).",
		Fix:      "Go by the calls, not by the stop reason.",
		Quiet:    "The reverse: calls with the reason stop are legal, OpenAI itself sends them.",
		Since:    "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"Reading it now."}],"stopReason":"toolUse"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"stop"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(parts) },
			Message: func(p *verify.Pass, m *transcript.Message) {
				fine := len(m.Calls()) > 0 || !onlyKnownBlocks(m)
				p.Memory().(*parts).message(p, m, fine, func() *verify.Finding {
					if m.StopReason != transcript.StopToolUse {
						return nil
					}
					f := p.Finding("the stop reason is toolUse but there is no call")
					return &f
				})
			},
			Leaf: func(p *verify.Pass) { p.Memory().(*parts).flush(p) },
		}),
	}
}

// onlyKnownBlocks reports whether m has no block of an unknown type, which may
// be a tool that the provider runs.
func onlyKnownBlocks(m *transcript.Message) bool {
	for i := range m.Content {
		switch m.Content[i].Type {
		case transcript.BlockText, transcript.BlockThinking, transcript.BlockToolCall, transcript.BlockImage:
		default:
			return false
		}
	}
	return true
}
