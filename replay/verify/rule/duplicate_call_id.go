package rule

import "github.com/turnlog/turnlog/replay/verify"

func duplicateCallID() verify.Rule {
	return verify.Rule{
		ID:       "duplicate-call-id",
		Group:    groupCalls,
		Severity: verify.Error,
		Title:    "two calls share an id before the first one is answered",
		Why: "Nobody can tell which call a result belongs to: the call is executed twice or refused. Anthropic: tool_use ids must be unique; born where streamed calls are put together " +
			"(claude-code#20901, BerriAI/litellm#23510, RooCodeInc/Roo-Code#10760, charmbracelet/crush#3107).",
		Fix:   "Key streamed calls by their index and give a call its own id if the provider repeats one.",
		Quiet: "A whole message that was written twice (repeated-message), an id that returns after its call was answered (reused-call-id).",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read both"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"y"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read both"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}},{"type":"toolCall","id":"c2","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c2","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		New: stateless(verify.Checker{Call: func(p *verify.Pass, c *verify.Call) {
			if c.Turn.RepeatOf != 0 || c.Turn.Failed {
				return
			}
			switch {
			case c.Duplicates != 0:
				f := c.Finding("two calls of this message have the id %s", quote(c.ID))
				f.Subject = c.ID
				p.Report(f)
			case c.Reopens != 0:
				f := c.Finding("the id %s belongs to a call that is still unanswered", quote(c.ID))
				f.Subject = c.ID
				f.Related = []verify.Related{{Line: c.Reopens, Message: "the unanswered call"}}
				p.Report(f)
			}
		}}),
	}
}
