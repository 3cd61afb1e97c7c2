package rule

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/verify"
)

func danglingParent() verify.Rule {
	return verify.Rule{
		ID:       "dangling-parent",
		Group:    groupTree,
		Severity: verify.Error,
		Title:    "an entry names a parent that is not in the file, or only further down",
		Why: "Everything before the gap is out of reach from this branch, and loaders build the context from what is left without a warning " +
			"(claude-code#58554: 213 of 241 sessions, 2 % of the entries reachable; QwenLM/qwen-code#6501).",
		Fix:   "Look for the lost entry (a torn line, another copy of the file). Check a part of a file with the slice option.",
		Quiet: "A part cut out of a longer file, a fork that relies on the file it came from, a root whose parent is the session itself.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"two"}}
`,
		Good: `{"type":"session","version":3,"id":"s2","cwd":"/tmp","parentSession":"/tmp/s1.jsonl"}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"two"}}
`,
		New: stateless(verify.Checker{End: func(p *verify.Pass) {
			for i := range p.File.Dangling {
				d := &p.File.Dangling[i]
				if d.Later == 0 && elsewhere(p.File) {
					continue
				}
				f := d.Finding("the parent %s is not in the file: what came before is lost to this branch", quote(d.Parent))
				if d.Later > 0 {
					f.Message = fmt.Sprintf("the parent %s comes only later", quote(d.Parent))
					f.Related = []verify.Related{{Line: d.Later, Message: "the parent"}}
				}
				f.Subject = d.Parent
				p.ReportIf(f, unlessExplained)
			}
		}}),
	}
}

// elsewhere reports whether parents may be where nobody looked: in a line that
// is too long to be read, or in another file: for a part of a file, and for a
// fork whose own first entry hangs on the file it came from. A fork that
// brought its history along is whole.
func elsewhere(file *verify.File) bool {
	return file.Slice || file.Unread > 0 || file.Header != nil && file.Header.ParentSession != "" && file.Dangling[0].First()
}
