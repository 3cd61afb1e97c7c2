package rule

import "github.com/turnlog/turnlog/replay/verify"

func removedToolCall() verify.Rule {
	return verify.Rule{
		ID:       "removed-tool-call",
		Group:    groupTools,
		Severity: verify.Error,
		Title:    "a call names a tool that was declared and had been removed",
		Why: "Only a replay of the increments can tell this from a call that was right when it was made. Providers refuse the history on every further turn " +
			"(claude-code#82004: tool reference not found), clients run what was taken away (claude-code#38043, openai/codex#34719). A warning if the file shows that the call did not run, an error otherwise.",
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
		New: stateless(verify.Checker{
			Call: func(p *verify.Pass, c *verify.Call) {
				if f, keep, ok := removedCall(c); ok {
					p.Suspect(c, verify.Error, verify.Warning, f, keep)
				}
			},
			Answer: func(p *verify.Pass, a *verify.Answer) {
				if a.Call == nil || a.Ran() || a.Message.HasDuration {
					return
				}
				if f, keep, ok := removedCall(a.Call); ok {
					p.ReportIf(f, turnedAway(keep))
				}
			},
		}),
	}
}

// removedCall is the finding about a call to a tool that is gone.
func removedCall(c *verify.Call) (f verify.Finding, keep func(*verify.File, *verify.Finding) bool, ok bool) {
	if c.Standing != verify.Removed && c.Standing != verify.Lapsed || c.Turn.Failed {
		return f, nil, false
	}
	f = c.Finding("the tool %s had been removed on line %d", quote(c.Name), c.Gone.Line)
	f.Subject, keep = c.ID, onlyIfDeclared
	f.Related = []verify.Related{{Line: c.Gone.Line, Message: "removed here"}}
	if c.Standing == verify.Lapsed {
		f.Message = "the compaction on line " + itoa(c.Gone.Line) + " left the tool " + quote(c.Name) + " undeclared"
		f.Related[0].Message, keep = "states no tools", onlyWithCheckpoints
	}
	return f, keep, true
}

// turnedAway tones a finding down where the file shows that the call did not
// run. An error result alone does not: a tool that ran and failed leaves one
// too, and this tool the runtime had a moment before. But a writer that notes
// how long tools ran, as pi does, notes nothing for a call it turned away.
func turnedAway(keep func(*verify.File, *verify.Finding) bool) func(*verify.File, *verify.Finding) bool {
	return func(file *verify.File, f *verify.Finding) bool {
		if file.Durations {
			f.Severity = verify.Warning
		}
		return keep(file, f)
	}
}

// onlyWithCheckpoints keeps a finding about compactions that state no tools if
// the writer knew how to state them.
func onlyWithCheckpoints(file *verify.File, _ *verify.Finding) bool { return file.Checkpoints }
