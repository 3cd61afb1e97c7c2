package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func executedTruncatedCall() verify.Rule {
	return verify.Rule{
		ID:       "executed-truncated-call",
		Group:    groupStops,
		Severity: verify.Error,
		Title:    "a call from a message that was cut at the token limit was executed",
		Why: "The arguments may be cut as well: after lenient parsing the call looks valid, no provider complains, and files are written half " +
			"(ahwurm/localharness#77, LibreChat-AI/agents#280, 2389-research/tracker#507, NousResearch/hermes-agent#86054).",
		Fix:   "Answer every call of a truncated message with an error result and let the model issue it again.",
		Quiet: "Error results for the whole batch, which is the right reaction.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"write it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"write","arguments":{"path":"x","content":"half a sen"}}],"stopReason":"length"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"write","content":[{"type":"text","text":"written"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"write it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"write","arguments":{"path":"x","content":"half a sen"}}],"stopReason":"length"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"write","content":[{"type":"text","text":"not executed"}],"isError":true}}
`,
		New: stateless(verify.Checker{Answer: func(p *verify.Pass, a *verify.Answer) {
			if a.Call == nil || a.Kind == verify.Again || a.Call.Turn.StopReason != transcript.StopLength || !a.Ran() {
				return
			}
			f := a.Finding("%s ran although the message with the call was cut at the token limit", quote(a.Call.Name))
			f.Subject = a.Call.ID
			f.Related = []verify.Related{{Line: a.CallAt, Message: "the truncated call"}}
			p.Report(f)
		}}),
	}
}
