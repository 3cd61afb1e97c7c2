package rule

import (
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func duplicateEntryID() verify.Rule {
	return verify.Rule{
		ID:       "duplicate-entry-id",
		Group:    groupTree,
		Severity: verify.Error,
		Title:    "two entries share an id, so every link to it is ambiguous",
		Why: "Readers that index by id take the last entry (pi does, and may then see a ring), readers that stream take the first: they show two histories. " +
			"Some refuse the file (mlx-node/mlx-node#100, tddworks/ClaudeBar#207).",
		Fix:   "Find the program that wrote the copy: a resume that appends history again, two writers, or a retry after a write that had succeeded.",
		Quiet: "The same ids in two files after a fork.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"two"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"message","id":"A1","parentId":"a1","message":{"role":"user","content":"two"}}
`,
		New: stateless(verify.Checker{Entry: func(p *verify.Pass, e *transcript.Entry) {
			if p.Links.Duplicate == 0 || e.Type == transcript.TypeSession {
				return
			}
			f := p.Finding("the id %s is taken already", quote(e.ID))
			f.Related = []verify.Related{{Line: p.Links.Duplicate, Message: "the entry with the same id"}}
			p.Report(f)
		}}),
	}
}
