package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func removeUnknownTool() verify.Rule {
	return verify.Rule{
		ID:       "remove-unknown-tool",
		Group:    groupTools,
		Severity: verify.Warning,
		Title:    "a message removes a tool that is not declared at that point",
		Why:      "The change was computed against another history: a stale branch, a lost line, a second writer. What it meant to leave declared may not be (mirror of claude-code#82004).",
		Fix:      "Compute the change from the tools that the path declares.",
		Quiet:    "A path whose beginning is missing.",
		Since:    "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"ask","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"system","content":"","toolsRemoved":[{"name":"tell"}]}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"ask","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"system","content":"","toolsRemoved":[{"name":"ask"}]}}
`,
		New: stateless(verify.Checker{Message: func(p *verify.Pass, m *transcript.Message) {
			if m.Role != transcript.System || p.Path.ToolsPartial() {
				return
			}
			tools := p.Path.Tools()
			for _, ref := range m.ToolsRemoved {
				if _, ok := tools.Lookup(ref.Name); ok {
					continue
				}
				f := p.Finding("the tool %s is removed but not declared here", quote(ref.Name))
				f.Subject = ref.Name
				keep := onlyIfDeclared
				if gone, ok := tools.LookupRemoved(ref.Name); ok {
					f.Related = []verify.Related{{Line: gone.Line, Message: "removed before"}}
					if p.Path.Lapsed(ref.Name) {
						keep = onlyWithCheckpoints
					}
				}
				p.ReportIf(f, keep)
			}
		}}),
	}
}
