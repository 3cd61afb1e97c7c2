package rule

import (
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func maskedTruncation() verify.Rule {
	return verify.Rule{
		ID:       "masked-truncation",
		Group:    groupStops,
		Severity: verify.Warning,
		Title:    "a message was cut at the token limit but is labelled as a finished tool call",
		Why:      "The guard against truncated calls never sees it (vllm-project/vllm#58228: 25 of 3,600 generations; NousResearch/hermes-agent#86054).",
		Fix:      "Keep the endpoint's own stop reason and map it; treat a call in an answer of exactly the allowed length as truncated.",
		Quiet:    "Messages without calls, and those that say length.",
		Since:    "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"write","arguments":{"text":"# R"}}],"rawStopReason":"max_tokens","stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"write","content":[{"type":"text","text":"ok"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"write","arguments":{"text":"# R"}}],"rawStopReason":"tool_calls","stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"write","content":[{"type":"text","text":"ok"}],"isError":false}}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(allowance) },
			Step: func(p *verify.Pass, e *transcript.Entry) {
				if e.Custom != nil && e.Custom.CustomType == transcript.CustomRequest {
					var r transcript.Request
					p.Memory().(*allowance).tokens = 0
					if e.Custom.Decode(&r) == nil {
						p.Memory().(*allowance).tokens = r.MaxTokens
					}
				}
			},
			Message: func(p *verify.Pass, m *transcript.Message) {
				if m.Role != transcript.Assistant {
					return
				}
				allowed := p.Memory().(*allowance)
				if why := masked(m, allowed.tokens); why != "" {
					p.Report(p.Finding("the message says %s but %s", quote(m.StopReason), why))
				}
				allowed.tokens = 0
			},
		}),
	}
}

// allowance is how many tokens the last recorded request allows, 0 if it does
// not say.
type allowance struct{ tokens int64 }

func (a *allowance) Clone() verify.Memory { c := *a; return &c }

// masked says why a message with calls was cut although it does not say so.
func masked(m *transcript.Message, allowed int64) string {
	if m.Failed() || m.StopReason == transcript.StopLength || len(m.Calls()) == 0 {
		return ""
	}
	switch raw := strings.ToLower(m.RawStopReason); raw {
	case "length", "max_tokens", "max_output_tokens", "token_limit", "model_length", "model_context_window_exceeded":
		return "the endpoint said " + quote(m.RawStopReason)
	}
	if m.Usage != nil && allowed > 0 && m.Usage.Output == allowed {
		return "has exactly the " + itoa(int(allowed)) + " tokens that the request allowed"
	}
	return ""
}
