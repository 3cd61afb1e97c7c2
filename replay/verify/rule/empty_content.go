package rule

import (
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func emptyContent() verify.Rule {
	return verify.Rule{
		ID:       "empty-content",
		Group:    groupContent,
		Severity: verify.Error,
		Title:    "a message carries nothing, or an empty text block",
		Why: "Anthropic and Bedrock refuse empty text blocks and blank user messages with 400, Kimi and GLM empty text (measured by experientiallabs/experiential#804; claude-code#6774, BerriAI/litellm#22979). " +
			"An error for user messages, a warning for the assistant's.",
		Fix:   "Leave empty blocks out; do not send a blank prompt.",
		Quiet: "Empty tool results, failed messages, the empty text that Claude itself puts beside a call.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":" \n"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"Yes?"}],"stopReason":"stop"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"\n\n"},{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"assistant","content":[],"stopReason":"aborted"}}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(parts) },
			Message: func(p *verify.Pass, m *transcript.Message) {
				if m.Role == transcript.User {
					emptyUser(p, m)
				}
				if finished(m) && emptyBlock(m) && !fromClaude(m) && says(m) {
					f := p.Finding("an empty text block stands in this message")
					f.Severity = verify.Warning
					p.ReportIf(f, unlessExplained)
				}
				p.Memory().(*parts).message(p, m, says(m), func() *verify.Finding {
					if !finished(m) {
						return nil
					}
					f := p.Finding("the answer has neither text nor a call")
					f.Severity = verify.Warning
					return &f
				})
			},
			Leaf: func(p *verify.Pass) { p.Memory().(*parts).flush(p) },
		}),
	}
}

func emptyUser(p *verify.Pass, m *transcript.Message) {
	switch {
	case m.Form == transcript.FormAbsent:
	case !says(m):
		p.Report(p.Finding("the user message is empty"))
	case emptyBlock(m):
		p.Report(p.Finding("an empty text block stands in this user message"))
	}
}

// finished reports whether m is an answer that is known to have ended well.
// pi 1.6.0 has answers that are deferred: they come later.
func finished(m *transcript.Message) bool {
	switch m.StopReason {
	case "", transcript.StopPending, "deferred":
		return false
	}
	return m.Role == transcript.Assistant && !m.Failed()
}

// says reports whether m has a call, visible text, or anything but text and
// thinking.
func says(m *transcript.Message) bool {
	for i := range m.Content {
		switch b := &m.Content[i]; b.Type {
		case transcript.BlockText:
			if strings.TrimSpace(b.Text) != "" {
				return true
			}
		case transcript.BlockThinking:
		default:
			return true
		}
	}
	return false
}

// emptyBlock reports whether a list of blocks has a text block with no
// character in it.
func emptyBlock(m *transcript.Message) bool {
	if m.Form != transcript.FormBlocks {
		return false
	}
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == transcript.BlockText && b.Text == "" {
			return true
		}
	}
	return false
}

// fromClaude reports whether a message says that Anthropic's models made it.
func fromClaude(m *transcript.Message) bool {
	for _, s := range []string{m.API, m.Provider, m.Model} {
		if s = strings.ToLower(s); strings.Contains(s, "anthropic") || strings.Contains(s, "claude") {
			return true
		}
	}
	return false
}
