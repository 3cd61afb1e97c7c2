package rule

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/verify"
)

func parentCycle() verify.Rule {
	return verify.Rule{
		ID:       "parent-cycle",
		Group:    groupTree,
		Severity: verify.Error,
		Title:    "parent links form a ring",
		Why:      "A reader that walks to the root never arrives: pi 1.6.0 hangs (measured), others refuse the file (mlx-node/mlx-node#100). No sequence can be checked inside a ring.",
		Fix:      "Restore the parent of the ring's first entry from another copy.",
		Quiet:    "Nothing looks like it.",
		Since:    "0.1.0",
		Needs:    foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":"a2","message":{"role":"user","content":"one"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"two"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"one"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"two"}}
`,
		New: stateless(verify.Checker{End: func(p *verify.Pass) {
			for i := range p.File.Rings {
				r := &p.File.Rings[i]
				f := r.Finding("the entry is its own ancestor")
				for _, line := range r.Lines[1:] {
					f.Related = append(f.Related, verify.Related{Line: line, Message: "also links forward in this ring"})
				}
				if n := len(r.Lines); n > 1 {
					f.Message += fmt.Sprintf(", over %d links to later lines", n)
				}
				p.Report(f)
			}
		}}),
	}
}
