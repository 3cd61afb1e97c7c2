package rule

import (
	"slices"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func silentRedeclaration() verify.Rule {
	return verify.Rule{
		ID:       "silent-redeclaration",
		Group:    groupTools,
		Severity: verify.Warning,
		Title:    "a declared tool is replaced by a different definition without being removed",
		Why: "Calls before and after follow different schemas, and only the latest is easy to see. pi 1.6.0 writes a change as removal and addition " +
			"(wso2/api-manager#4282: a tool renamed onto an existing one).",
		Fix:   "Name the tool in toolsRemoved of the same message.",
		Quiet: "The same definition listed again, keys of a schema in another order.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"ask","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"system","content":"","toolsAdded":[{"name":"ask","description":"other","parameters":{"type":"object"}}]}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"ask","description":"d","parameters":{"type":"object","required":[]}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"system","content":"","toolsAdded":[{"name":"ask","description":"d","parameters":{"required":[],"type":"object"}}]}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"system","content":"","toolsRemoved":[{"name":"ask"}],"toolsAdded":[{"name":"ask","description":"other","parameters":{"type":"object"}}]}}
`,
		New: stateless(verify.Checker{Message: func(p *verify.Pass, m *transcript.Message) {
			if m.Role != transcript.System || len(m.ToolsAdded) == 0 {
				return
			}
			tools := p.Path.Tools()
			for i := range m.ToolsAdded {
				t := &m.ToolsAdded[i]
				old, ok := tools.Lookup(t.Name)
				if !ok || sameTool(&old.Tool, t) || slices.Contains(m.ToolsRemoved, transcript.ToolRef{Name: t.Name}) {
					continue
				}
				f := p.Finding("the tool %s gets another definition without being removed", quote(t.Name))
				f.Subject = t.Name
				f.Related = []verify.Related{{Line: old.Line, Message: "declared here"}}
				p.Report(f)
			}
		}}),
	}
}
