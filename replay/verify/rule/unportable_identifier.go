package rule

import (
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func unportableIdentifier() verify.Rule {
	return verify.Rule{
		ID:       "unportable-identifier",
		Group:    groupTools,
		Severity: verify.Warning,
		Title:    "a call id would be refused by another provider",
		Why: "Histories move between providers: Anthropic wants ^[a-zA-Z0-9_-]+$, OpenAI at most 64 characters, Mistral exactly nine letters and digits " +
			"(anomalyco/opencode#1680, langchain-ai/langchain#24668, nearai/ironclaw#1241). A warning where a later answer comes from another provider, a note otherwise.",
		Fix:   "Map ids when a history is sent to another provider.",
		Quiet: "Ids in the form of the provider that gave them.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"call 1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"call 1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","provider":"moonshot","content":[{"type":"toolCall","id":"functions.read:0","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"functions.read:0","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(unportable) },
			Call: func(p *verify.Pass, c *verify.Call) {
				if c.Turn.Failed || portable(c) {
					return
				}
				f := c.Finding("the call id %s would be refused by other providers", quote(c.ID))
				f.Subject, f.Severity = c.ID, verify.Note
				p.Report(f)
				if m := p.Memory().(*unportable); m.provider == "" {
					m.provider, m.finding = strings.Clone(c.Turn.Provider), f
				}
			},
			Message: func(p *verify.Pass, m *transcript.Message) {
				u := p.Memory().(*unportable)
				if m.Role != transcript.Assistant || u.provider == "" || m.Provider == "" || m.Provider == u.provider {
					return
				}
				f := u.finding
				f.Severity = verify.Warning
				f.Message += ", and a later answer comes from " + quote(m.Provider)
				p.Report(f)
				*u = unportable{}
			},
		}),
	}
}

// unportable is the first id of a path that another provider would refuse.
type unportable struct {
	provider string
	finding  verify.Finding
}

func (u *unportable) Clone() verify.Memory { c := *u; return &c }

// longestID is what OpenAI accepts.
const longestID = 64

func portable(c *verify.Call) bool {
	provider := strings.ToLower(c.Turn.Provider)
	switch {
	case c.ID == "":
		return true // other rules see to it
	case strings.Contains(provider, "mistral"):
		return len(c.ID) == 9 && strings.IndexFunc(c.ID, isNotAlnum) < 0
	case strings.Contains(provider, "kimi"), strings.Contains(provider, "moonshot"):
		// functions.NAME:0 is how Kimi numbers its calls.
		return true
	case strings.Contains(provider, "openai"), strings.Contains(provider, "codex"), strings.Contains(provider, "azure"), strings.Contains(provider, "copilot"):
		// call_x|fc_y is both ids that the Responses API gives a call.
		id, item, both := strings.Cut(c.ID, "|")
		return wellFormed(id) && (!both || item != "")
	}
	return wellFormed(c.ID)
}

func wellFormed(id string) bool {
	return len(id) > 0 && len(id) <= longestID &&
		strings.IndexFunc(id, func(r rune) bool { return r != '_' && r != '-' && isNotAlnum(r) }) < 0
}

func isNotAlnum(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
