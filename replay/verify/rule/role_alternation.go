package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func roleAlternation() verify.Rule {
	return verify.Rule{
		ID:       "role-alternation",
		Group:    groupOrder,
		Severity: verify.Warning,
		Title:    "the first message is from the assistant, or two assistant messages touch",
		Why: "The chat templates of Mistral and Gemma models refuse it with HTTP 500, Claude 4.6 and later want the conversation to end with a user message " +
			"(mistralai/mistral-vibe#1006, eclipse-theia/theia#17104, SWE-agent/mini-swe-agent#759, cloudflare/agents#1618).",
		Fix:   "Merge the two messages, or send a user message in between.",
		Quiet: "Several user messages in a row, failed messages, the parts of one answer, system messages with tool changes, a continue that FinishTurn decided.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"one"}],"stopReason":"stop"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"stopReason":"stop"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"on"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[],"stopReason":"error"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"stopReason":"stop"}}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(decision) },
			Step: func(p *verify.Pass, e *transcript.Entry) {
				if e.Custom != nil && e.Custom.CustomType == transcript.CustomTurn {
					var r transcript.TurnRecord
					p.Memory().(*decision).goesOn = e.Custom.Decode(&r) == nil && r.Decision == "continue"
				}
			},
			Message: func(p *verify.Pass, m *transcript.Message) {
				goesOn := p.Memory().(*decision).goesOn
				if m.Role != transcript.System {
					p.Memory().(*decision).goesOn = false
				}
				if t := p.Turn(); t != nil && !t.Failed && !t.Continues && t.RepeatOf == 0 && !goesOn {
					alternation(p)
				}
			},
		}),
	}
}

// decision is what the record of the last turn says.
type decision struct{ goesOn bool }

func (d *decision) Clone() verify.Memory { c := *d; return &c }

func alternation(p *verify.Pass) {
	before := p.Path.Before()
	switch {
	case !p.Path.Began():
		if !p.File.Slice {
			p.ReportIf(p.Finding("the first message is from the assistant"), unlessExplained)
		}
	case before.Role == string(transcript.Assistant) && !p.Path.Owes():
		f := p.Finding("two assistant messages follow each other")
		f.Related = []verify.Related{{Line: before.Line, Message: "the one before"}}
		p.ReportIf(f, unlessExplained)
	}
}
