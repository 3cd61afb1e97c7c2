package rule

import (
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func interleavedBranches() verify.Rule {
	return verify.Rule{
		ID:       "interleaved-branches",
		Group:    groupTree,
		Severity: verify.Warning,
		Title:    "the file goes back to a branch that it had left",
		Why: "Two processes write one session, or a writer holds on to an old leaf: one of the two threads vanishes from the next request " +
			"(earendil-works/pi#8177, claude-code#91632: 190 records and 11 human turns stranded, MoonshotAI/kimi-code#3181).",
		Fix:   "One writer for a session at a time; turnlog locks the file for that.",
		Quiet: "A rewind (fork once and never return), a return with a branch summary, side chains of sub-agents.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"start"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"mine"}}
{"type":"message","id":"a3","parentId":"a1","message":{"role":"user","content":"yours"}}
{"type":"message","id":"a4","parentId":"a2","message":{"role":"user","content":"mine again"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"start"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"mine"}}
{"type":"message","id":"a3","parentId":"a1","message":{"role":"user","content":"rather this"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"user","content":"on"}}
`,
		New: stateless(verify.Checker{Entry: func(p *verify.Pass, e *transcript.Entry) {
			// A branch summary and a label show that a person went back.
			if p.Links.Returns == 0 || e.Type == transcript.TypeBranchSummary || e.Type == transcript.TypeLabel {
				return
			}
			f := p.Finding("the file returns to a branch that it had left")
			f.Related = []verify.Related{{Line: p.Links.Returns, Message: "the tip that is left behind"}}
			p.Report(f)
		}}),
	}
}
