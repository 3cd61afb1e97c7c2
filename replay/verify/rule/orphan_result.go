package rule

import (
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/replay/verify"
)

func orphanResult() verify.Rule {
	return verify.Rule{
		ID:       "orphan-result",
		Group:    groupCalls,
		Severity: verify.Error,
		Title:    "a result answers a call that does not exist on its path",
		Why: "Providers refuse it (Anthropic: unexpected tool_use_id; OpenAI: role tool must respond to tool_calls; Responses: no tool call found), and because it is stored, " +
			"on every retry (openclaw/openclaw#8525, G-Research/bobbit#845, claude-code#58554: 484 orphans in 30 sessions).",
		Fix:   "Find the call: it may be on another branch, further down, or cut away. Without it, leave the result out with a context edit.",
		Quiet: "A result whose call was cut off with the beginning of the file, commands that the user ran.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"toolResult","toolCallId":"c7","toolName":"read","content":[{"type":"text","text":"milk"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"read it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"bashExecution","command":"cat x","output":"milk","exitCode":0,"cancelled":false,"truncated":false}}
`,
		New: stateless(verify.Checker{Answer: func(p *verify.Pass, a *verify.Answer) {
			if a.Kind != verify.Orphan || p.Path.Severed() || p.File.Slice {
				return
			}
			id := strings.Clone(a.Message.ToolCallID)
			f := a.Finding("no call on this path has the id %s", quote(id))
			f.Subject = id
			key := p.CallKey(id)
			p.ReportIf(f, func(_ *verify.File, f *verify.Finding) bool {
				line, ok := p.CallLine(key)
				switch {
				case !ok:
					return true
				case line < f.Line:
					f.Message = fmt.Sprintf("the call %s is on another branch", quote(id))
				default:
					f.Message = fmt.Sprintf("the call %s comes only after its result", quote(id))
				}
				f.Related = []verify.Related{{Line: line, Message: "the call"}}
				return true
			})
		}}),
	}
}
