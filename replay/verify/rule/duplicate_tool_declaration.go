package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func duplicateToolDeclaration() verify.Rule {
	return verify.Rule{
		ID:       "duplicate-tool-declaration",
		Group:    groupTools,
		Severity: verify.Error,
		Title:    "one list of tools names a tool twice",
		Why: "Clients keep the first, the last, or route to the wrong server " +
			"(samanhappy/mcphub#139: SQL sent to the wrong database; IBM/mcp-context-forge#6189, openai/openai-agents-js#1934).",
		Fix:   "Give the tools of several servers different names.",
		Quiet: "The same tool in two messages.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"ask","description":"sales","parameters":{"type":"object"}},{"name":"ask","description":"stock","parameters":{"type":"object"}}]}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"ask","description":"sales","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"system","content":"","toolsAdded":[{"name":"ask","description":"sales","parameters":{"type":"object"}}]}}
`,
		New: stateless(verify.Checker{Entry: func(p *verify.Pass, e *transcript.Entry) {
			switch {
			case e.Message != nil:
				reportDuplicates(p, e.Message.ToolsAdded)
			case e.Custom != nil && e.Custom.CustomType == transcript.CustomRequest:
				reportDuplicates(p, requested(e.Custom))
			case e.Compaction != nil && e.Compaction.SystemMessage != nil:
				reportDuplicates(p, e.Compaction.SystemMessage.ToolsAdded)
			}
		}}),
	}
}

// requested are the tools that the record of a request names.
func requested(c *transcript.Custom) []transcript.Tool {
	var r transcript.Request
	if c.Decode(&r) != nil {
		return nil
	}
	tools := make([]transcript.Tool, len(r.Tools))
	for i, name := range r.Tools {
		tools[i].Name = name
	}
	return tools
}

func reportDuplicates(p *verify.Pass, tools []transcript.Tool) {
	if len(tools) < 2 {
		return
	}
	first := make(map[string]int, len(tools))
	for i := range tools {
		j, twice := first[tools[i].Name]
		if !twice {
			first[tools[i].Name] = i
			continue
		}
		f := p.Finding("the tool %s is listed twice, with the same declaration", quote(tools[i].Name))
		if !sameTool(&tools[j], &tools[i]) {
			f = p.Finding("the tool %s is listed twice, with different declarations", quote(tools[i].Name))
		}
		f.Subject = tools[i].Name
		p.Report(f)
	}
}
