package rule

import "github.com/turnlog/turnlog/replay/verify"

func reusedCallID() verify.Rule {
	return verify.Rule{
		ID:       "reused-call-id",
		Group:    groupCalls,
		Severity: verify.Warning,
		Title:    "a call id returns in a later turn after it was answered",
		Why: "Anthropic refuses: ids must be unique over the whole request. Kimi numbers calls per turn by design; a reader that pairs by id alone then hides a missing result or drops a call " +
			"(NVIDIA-NeMo/Switchyard#502, open-webui/open-webui#28305, esengine/DeepSeek-Reasonix#8164).",
		Fix:   "Give each call its own id when it is recorded, and pair within an exchange.",
		Quiet: "Ids of other branches, files that share their history.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"y"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a5","parentId":"a4","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"2"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"y"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a5","parentId":"a4","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"2"}],"isError":false}}
`,
		New: stateless(verify.Checker{Call: func(p *verify.Pass, c *verify.Call) {
			if c.Reuses == 0 || c.Turn.RepeatOf != 0 || c.Turn.Failed {
				return
			}
			f := c.Finding("the id %s was used by an earlier call of this path", quote(c.ID))
			f.Subject = c.ID
			f.Related = []verify.Related{{Line: c.Reuses, Message: "the earlier call"}}
			p.ReportIf(f, unlessExplained)
		}}),
	}
}

// unlessExplained keeps a finding unless a stronger one explains its line.
func unlessExplained(file *verify.File, f *verify.Finding) bool { return !file.Explained(f.Line) }
