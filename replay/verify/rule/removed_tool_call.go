package rule

import "github.com/turnlog/turnlog/replay/verify"

func removedToolCall() verify.Rule {
	return verify.Rule{
		ID:       "removed-tool-call",
		Group:    groupTools,
		Severity: verify.Error,
		Title:    "a call names a tool that was declared and had been removed",
		Why: "Only a replay of the increments can tell this from a call that was right when it was made. Providers refuse the history on every further turn " +
			"(claude-code#82004: tool reference not found), clients run what was taken away (claude-code#38043, openai/codex#34719). An error if the call ran, a warning otherwise.",
		Fix:   "Do not execute tools that are not declared at the moment of the call; tell the model that the tool is gone, or declare it again.",
		Quiet: "Removal and addition in one message (a redefinition), a removal between a call and its result, a removal on another branch.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"read","description":"d","parameters":{"type":"object"}},{"name":"shell","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"system","content":"","toolsRemoved":[{"name":"shell"}]}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"what time is it?"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"shell","arguments":{"command":"date"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a5","parentId":"a4","message":{"role":"toolResult","toolCallId":"c1","toolName":"shell","content":[{"type":"text","text":"Tue"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"shell","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"what time is it?"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"shell","arguments":{"command":"date"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"system","content":"","toolsRemoved":[{"name":"shell"}]}}
{"type":"message","id":"a5","parentId":"a4","message":{"role":"toolResult","toolCallId":"c1","toolName":"shell","content":[{"type":"text","text":"Tue"}],"isError":false}}
`,
		New: stateless(verify.Checker{Call: func(p *verify.Pass, c *verify.Call) {
			if c.Standing != verify.Removed && c.Standing != verify.Lapsed || c.Turn.Failed {
				return
			}
			f := c.Finding("the tool %s had been removed on line %d", quote(c.Name), c.Gone.Line)
			f.Subject = c.ID
			f.Related = []verify.Related{{Line: c.Gone.Line, Message: "removed here"}}
			keep := onlyIfDeclared
			if c.Standing == verify.Lapsed {
				f.Message = "the compaction on line " + itoa(c.Gone.Line) + " left the tool " + quote(c.Name) + " undeclared"
				f.Related[0].Message = "states no tools"
				keep = onlyWithCheckpoints
			}
			p.Suspect(c, verify.Error, verify.Warning, f, keep)
		}}),
	}
}

// onlyWithCheckpoints keeps a finding about compactions that state no tools if
// the writer knew how to state them.
func onlyWithCheckpoints(file *verify.File, _ *verify.Finding) bool { return file.Checkpoints }
