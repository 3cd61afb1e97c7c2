package rule

import "github.com/turnlog/turnlog/replay/verify"

func concatenatedArguments() verify.Rule {
	return verify.Rule{
		ID:       "concatenated-arguments",
		Group:    groupArgs,
		Severity: verify.Error,
		Title:    "the arguments hold two JSON values back to back: two streamed calls were merged",
		Why: "The second call is lost without a trace; born where deltas without an index are put together " +
			"(vercel/ai#18333, LibreChat-AI/agents#260: index 0 for all; SamSaffron/term-llm#314: an absent index read as 0).",
		Fix:   "Start a new call where a delta brings a new id or name, whatever its index.",
		Quiet: "One value printed over several lines.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{},"argumentsError":"{\"path\":\"x\"}{\"path\":\"y\"}"}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"bad arguments"}],"isError":true}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{},"argumentsError":"{\n  \"path\": \"x\"\n"}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"bad arguments"}],"isError":true}}
`,
		New: stateless(verify.Checker{Call: func(p *verify.Pass, c *verify.Call) {
			if c.Turn.Failed || !concatenated(c) {
				return
			}
			f := c.Finding("the arguments of %s hold several JSON values: calls were merged", quote(c.Name))
			f.Subject = c.ID
			p.Report(f)
		}}),
	}
}
