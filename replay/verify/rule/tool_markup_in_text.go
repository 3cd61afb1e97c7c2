package rule

import (
	"regexp"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func toolMarkupInText() verify.Rule {
	markup := regexp.MustCompile(`(?m)<tool_call>\s*[{\[<]|^[ \t]*<function=[\w.-]+>|^[ \t]*<invoke name="|\[TOOL_CALLS\]\s*[\[{\w]|^[ \t]*<tool_response>|^[ \t]*<function_results>|^Observation:`)
	return verify.Rule{
		ID:       "tool-markup-in-text",
		Group:    groupContent,
		Severity: verify.Warning,
		Title:    "call or result markup stands in the assistant's text and no call was recorded",
		Why: "The model meant to call a tool, or made its result up; the turn ends as if it were an answer " +
			"(claude-code#57038, #71806, vllm-project/vllm#45736, QwenLM/Qwen-Agent#928).",
		Fix:   "Use the chat template that belongs to the model, or parse its calls.",
		Quiet: "Talk about the syntax, fenced and quoted examples.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"I look.\n<function=read>{\"path\":\"x\"}</function>"}],"stopReason":"stop"}}
`,
		Good: "{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"how do they call?\"}}\n" +
			"{\"type\":\"message\",\"id\":\"a2\",\"parentId\":\"a1\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"With <tool_call> tags:\\n```\\n<tool_call>{}</tool_call>\\n```\"}],\"stopReason\":\"stop\"}}\n",
		New: stateless(verify.Checker{Message: func(p *verify.Pass, m *transcript.Message) {
			if m.Role != transcript.Assistant || len(m.Calls()) > 0 {
				return
			}
			for i := range m.Content {
				text := m.Content[i].Text
				if m.Content[i].Type != transcript.BlockText || !strings.ContainsAny(text, "<[") && !strings.Contains(text, "Observation:") {
					continue
				}
				if found := markup.FindString(withoutCode(text)); found != "" {
					f := p.Finding("the text has the markup %s and no call was recorded", quote(strings.TrimSpace(found)))
					p.Report(f)
					return
				}
			}
		}}),
	}
}

// withoutCode takes fenced blocks and quoted lines out of a text, and code
// between backticks.
func withoutCode(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		case strings.HasPrefix(trimmed, ">"):
		default:
			for i, piece := range strings.Split(line, "`") {
				if i%2 == 0 {
					b.WriteString(piece)
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}
