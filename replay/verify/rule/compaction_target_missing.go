package rule

import (
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func compactionTargetMissing() verify.Rule {
	return verify.Rule{
		ID:       "compaction-target-missing",
		Group:    groupTree,
		Severity: verify.Error,
		Title:    "the first kept entry of a compaction is not on the path to it: nothing is kept",
		Why: "The next request has the summary only, and nobody says so " +
			"(damianvtran/local-operator#899: 98.1 % of the rows out of reach; openai/codex#43855: the task itself gone).",
		Fix:   "Point at an entry above the compaction, or at the compaction itself to keep nothing.",
		Quiet: "The compaction's own id, and the index that version 1 files have instead of an id.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"the port is 8081"}}
{"type":"compaction","id":"a2","parentId":"a1","summary":"s","firstKeptEntryId":"a9","tokensBefore":9000}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"the port is 8081"}}
{"type":"compaction","id":"a2","parentId":"a1","summary":"s","firstKeptEntryId":"a2","tokensBefore":9000}
`,
		New: stateless(verify.Checker{Step: func(p *verify.Pass, e *transcript.Entry) {
			if e.Compaction == nil || p.Path.Severed() || p.File.Slice {
				return
			}
			if first, pointed := p.Kept(e.Compaction); !pointed || first.Line > 0 {
				return
			}
			f := p.Finding("the first kept entry %s is not on the path to the compaction: nothing is kept", quote(e.Compaction.FirstKeptEntryID))
			f.Subject = e.Compaction.FirstKeptEntryID
			p.Report(f)
		}}),
	}
}
