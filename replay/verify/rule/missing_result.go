package rule

import "github.com/turnlog/turnlog/replay/verify"

func missingResult() verify.Rule {
	return verify.Rule{
		ID:       "missing-result",
		Group:    groupCalls,
		Severity: verify.Error,
		Title:    "a tool call was never answered although the conversation went on",
		Why: "Every provider refuses the history: Anthropic (tool_use ids were found without tool_result blocks), OpenAI (must be followed by tool messages), Gemini (response parts must equal call parts). " +
			"The most reported killer of sessions (claude-code#1237, charmbracelet/crush#529, openai/codex#29773, google-gemini/gemini-cli#5443).",
		Fix:   "Write a result for every call before the next message, an error result if the tool did not run.",
		Quiet: "Failed and aborted messages, the last calls of a file (open-call), calls on a branch that was left, tools that the provider runs.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read both"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"never mind"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read both"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"aborted"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"never mind"}}
`,
		New: stateless(verify.Checker{Unanswered: func(p *verify.Pass, c *verify.Call) {
			if c.Open {
				return
			}
			f := c.Finding("the call %s of %s was never answered", quote(c.ID), quote(c.Name))
			f.Subject = c.ID
			p.Report(f)
		}}),
	}
}
