package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func openCall() verify.Rule {
	return verify.Rule{
		ID:       "open-call",
		Group:    groupCalls,
		Severity: verify.Warning,
		Title:    "the file ends while a call is unanswered",
		Why: "The run was killed during a tool, is still going on, or the file was copied by the very command that is open. " +
			"The next request fails unless the call is answered first (earendil-works/pi#8378, charmbracelet/crush#1206). A warning where the run is known to have ended, a note otherwise.",
		Fix:   "Resume the run, or close the call with an error result.",
		Quiet: "A branch that was left and ends this way.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"I know it."}],"stopReason":"stop"}}
`,
		New: func(verify.Values) verify.Checker {
			var end ending
			return verify.Checker{
				Line: func(_ *verify.Pass, l *transcript.Line) { end.read(l) },
				Unanswered: func(p *verify.Pass, c *verify.Call) {
					// A damaged line after the call may have been its result.
					if !c.Open || !p.Active || p.File.TornAt > c.Line {
						return
					}
					f := c.Finding("the file ends before the call %s of %s is answered", quote(c.ID), quote(c.Name))
					f.Subject = c.ID
					f.Severity = verify.Note
					if p.File.Finished || end.run() {
						f.Severity = verify.Warning
						f.Message += ", though the run had ended"
					}
					p.ReportIf(f, unlessGrowing)
				},
			}
		},
	}
}
