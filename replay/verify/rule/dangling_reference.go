package rule

import (
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func danglingReference() verify.Rule {
	return verify.Rule{
		ID:       "dangling-reference",
		Group:    groupTree,
		Severity: verify.Warning,
		Title:    "an edit, a label or a branch summary points at an entry that does not exist",
		Why: "The edit has no effect, so the request differs from what its author meant " +
			"(claude-code#92089: a rewind target that is not on the chain, claude-code#89820: a stale leaf).",
		Fix:   "Point at an entry of the file.",
		Quiet: "A target further down, a branch that a fork has left behind, a part of a file.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"context_edit","id":"a2","parentId":"a1","targetId":"a9","replacement":null}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"label","id":"a2","parentId":"a1","targetId":"a3","label":"later"}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"two"}}
`,
		New: stateless(verify.Checker{Entry: func(p *verify.Pass, e *transcript.Entry) {
			what, target := reference(e)
			if target == "" || p.Exists(target) || p.File.Slice {
				return
			}
			f := p.Finding("%s points at %s, which is not in the file", what, quote(target))
			f.Subject = target
			p.ReportIf(f, func(file *verify.File, _ *verify.Finding) bool {
				left := e.Branch != nil && file.Header != nil && file.Header.ParentSession != ""
				return !p.Exists(f.Subject) && !left
			})
		}}),
	}
}

// reference is what an entry points at, "" for nothing.
func reference(e *transcript.Entry) (what, target string) {
	switch {
	case e.Edit != nil:
		return "the edit", e.Edit.TargetID
	case e.Label != nil:
		return "the label", e.Label.TargetID
	case e.Branch != nil && e.Branch.FromID != "root":
		return "the branch summary", e.Branch.FromID
	}
	return "", ""
}
