package rule

import "github.com/turnlog/turnlog/replay/verify"

func executedFailedTurn() verify.Rule {
	return verify.Rule{
		ID:       "executed-failed-turn",
		Group:    groupCalls,
		Severity: verify.Error,
		Title:    "a call of an assistant message that ended with an error or an abort was executed",
		Why: "Requests leave the failed message out, so its result is an orphan there (pi 1.6.0, measured), and what the call did is hidden from the model " +
			"(earendil-works/pi#9306, agno-agi/agno#10366, charmbracelet/crush#3109). An error if the call ran, a warning otherwise.",
		Fix:   "Execute calls only after the message has ended well.",
		Quiet: "A failed message whose calls have no results.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"aborted"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"error"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"again"}}
`,
		New: stateless(verify.Checker{Answer: func(p *verify.Pass, a *verify.Answer) {
			if a.Call == nil || !a.Call.Turn.Failed {
				return
			}
			f := a.Finding("the call belongs to a message that ended with %s", quote(a.Call.Turn.StopReason))
			f.Subject = a.Call.ID
			f.Related = []verify.Related{{Line: a.CallAt, Message: "the failed message"}}
			if !a.Ran() {
				f.Severity = verify.Warning
			}
			p.ReportIf(f, unlessExplained)
		}}),
	}
}
