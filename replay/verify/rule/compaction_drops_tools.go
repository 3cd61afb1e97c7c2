package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func compactionDropsTools() verify.Rule {
	return verify.Rule{
		ID:       "compaction-drops-tools",
		Group:    groupTree,
		Severity: verify.Error,
		Title:    "the tools after a compaction differ from those before it, and no message says so",
		Why: "The model loses tools, or gets others, without having been told; nothing complains at once (openai/codex#34719). Bedrock refuses a history with calls and no tools " +
			"(anomalyco/opencode#34089). A note in files whose writer did not know how to state tools in a compaction.",
		Fix:   "State the tools declared at that point in the compaction; declare changes in a system message.",
		Quiet: "Tools listed in another order, keys of a schema in another order.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"read","description":"d","parameters":{"type":"object"}},{"name":"ls","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
{"type":"compaction","id":"a3","parentId":"a2","summary":"s","firstKeptEntryId":"a2","tokensBefore":9000,"systemMessage":{"role":"system","content":"p","toolsAdded":[{"name":"ls","description":"d","parameters":{"type":"object"}}]}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"p","toolsAdded":[{"name":"read","description":"d","parameters":{"type":"object"}},{"name":"ls","description":"d","parameters":{"type":"object"}}]}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
{"type":"compaction","id":"a3","parentId":"a2","summary":"s","firstKeptEntryId":"a2","tokensBefore":9000,"systemMessage":{"role":"system","content":"p","toolsAdded":[{"name":"ls","description":"d","parameters":{"type":"object"}},{"name":"read","description":"d","parameters":{"type":"object"}}]}}
`,
		New: stateless(verify.Checker{Step: func(p *verify.Pass, e *transcript.Entry) {
			if e.Compaction == nil || !p.Path.ToolsKnown() {
				return
			}
			before := p.Path.Tools()
			if e.Compaction.SystemMessage == nil {
				if before.Len() == 0 {
					return
				}
				f := p.Finding("the compaction states no tools, %d were declared", before.Len())
				p.ReportIf(f, func(file *verify.File, f *verify.Finding) bool {
					if !file.Checkpoints {
						f.Severity = verify.Note
					}
					return true
				})
				return
			}
			if changes := toolChanges(before, e.Compaction.SystemMessage.ToolsAdded); len(changes) > 0 {
				p.Report(p.Finding("the compaction changes the tools: %s", strings.Join(changes, ", ")))
			}
		}}),
	}
}

// toolChanges says how a list of tools differs from a set.
func toolChanges(before replay.ToolSet, after []transcript.Tool) []string {
	var changes []string
	for _, old := range before.Declared() {
		i := slices.IndexFunc(after, func(t transcript.Tool) bool { return t.Name == old.Name })
		switch {
		case i < 0:
			changes = append(changes, fmt.Sprintf("%s is gone (declared on line %d)", quote(old.Name), old.Line))
		case !sameTool(&old.Tool, &after[i]):
			changes = append(changes, fmt.Sprintf("%s is another one (declared on line %d)", quote(old.Name), old.Line))
		}
	}
	for _, t := range after {
		if _, ok := before.Lookup(t.Name); !ok {
			changes = append(changes, quote(t.Name)+" is new")
		}
	}
	return changes
}

// sameTool reports whether two declarations tell the model the same; the order
// of keys does not count.
func sameTool(a, b *transcript.Tool) bool {
	return a.Description == b.Description && verify.SameJSON(a.Parameters, b.Parameters)
}
