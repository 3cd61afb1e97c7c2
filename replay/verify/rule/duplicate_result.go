package rule

import "github.com/turnlog/turnlog/replay/verify"

func duplicateResult() verify.Rule {
	return verify.Rule{
		ID:       "duplicate-result",
		Group:    groupCalls,
		Severity: verify.Error,
		Title:    "one call has two results",
		Why: "Anthropic refuses (each tool_use must have a single result, found multiple), others accept: which one the model has seen depends on the client " +
			"(RooCodeInc/Roo-Code#9248, QwenLM/qwen-code#8163, charmbracelet/crush#3121: 2,228 entries for one id).",
		Fix:   "Look whether a call is answered before its answer is written, also on cancellation.",
		Quiet: "Ids that are numbered per turn: the second result belongs to the second call. Progress of a running tool.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"cancelled"}],"isError":true}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"2"}],"isError":false}}
`,
		New: stateless(verify.Checker{Answer: func(p *verify.Pass, a *verify.Answer) {
			if a.Kind != verify.Again {
				return
			}
			f := a.Finding("the call %s has a result already", quote(a.Message.ToolCallID))
			f.Subject = a.Message.ToolCallID
			f.Related = []verify.Related{{Line: a.CallAt, Message: "the call"}}
			if a.First > 0 {
				f.Related = append(f.Related, verify.Related{Line: a.First, Message: "the first result"})
			}
			p.Report(f)
		}}),
	}
}
