package rule

import "github.com/turnlog/turnlog/replay/verify"

func resultNameMismatch() verify.Rule {
	return verify.Rule{
		ID:       "result-name-mismatch",
		Group:    groupCalls,
		Severity: verify.Error,
		Title:    "a result names another tool than its call",
		Why: "The result may belong to another call, and Gemini's history carries the name " +
			"(iBUHub/AIStudioToAPI#228: every result from unknown_function; suntianc/dsh-antigravity-auth#33, cloudflare/ai#384).",
		Fix:   "Take the name of the result from its call.",
		Quiet: "A name that the runtime repaired: the call has tool-name-variant then.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"delete","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		New: stateless(verify.Checker{Answer: func(p *verify.Pass, a *verify.Answer) {
			name := a.Message.ToolName
			if a.Call == nil || name == "" || name == a.Call.Name {
				return
			}
			if a.Call.Standing == verify.Undeclared {
				if repaired, ok := variant(a.Call.Name, p.Path.Tools()); ok && (repaired == name || repaired == "") {
					return
				}
			}
			f := a.Finding("the result names %s, its call %s", quote(name), quote(a.Call.Name))
			f.Subject = a.Call.ID
			f.Related = []verify.Related{{Line: a.CallAt, Message: "the call"}}
			p.Report(f)
		}}),
	}
}
