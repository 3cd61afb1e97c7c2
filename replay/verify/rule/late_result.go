package rule

import "github.com/turnlog/turnlog/replay/verify"

func lateResult() verify.Rule {
	return verify.Rule{
		ID:       "late-result",
		Group:    groupCalls,
		Severity: verify.Error,
		Title:    "a result comes after the next user or assistant message",
		Why: "Anthropic and Gemini refuse, Kimi, DeepSeek and MiniMax want results right behind the call; pi 1.6.0 puts an error result in between and then sends the late one as well " +
			"(charmbracelet/crush#3743, anomalyco/opencode#5750, claude-code#89640).",
		Fix:   "Hold messages back until all calls are answered.",
		Quiet: "System messages between call and result, results in another order than the calls.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"well?"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"system","content":"p2"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		New: stateless(verify.Checker{Answer: func(p *verify.Pass, a *verify.Answer) {
			if a.Kind != verify.Late {
				return
			}
			f := a.Finding("the result of the call %s comes after the exchange had ended", quote(a.Message.ToolCallID))
			f.Subject = a.Message.ToolCallID
			f.Related = []verify.Related{{Line: a.CallAt, Message: "the call"}}
			p.Report(f)
		}}),
	}
}
