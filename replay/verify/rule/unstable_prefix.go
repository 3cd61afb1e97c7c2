package rule

import (
	"regexp"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func unstablePrefix() verify.Rule {
	clock := regexp.MustCompile(`(?:^|[^\d:])((?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d)(?:[^\d:]|$)`)
	return verify.Rule{
		ID:       "unstable-prefix",
		Group:    groupCache,
		Severity: verify.Warning,
		Title:    "the head of the prompt changes by itself: a clock in the system text, or tools sent again unchanged",
		Why: "Every request starts with other bytes, so nothing is ever read from the cache " +
			"(earendil-works/pi#1873, dust-tt/dust#24854, openclaw/openclaw#19563; NousResearch/hermes-agent#27339: shuffled tools).",
		Fix:   "Put the time into a user message or a tool result, and leave declarations that have not changed alone.",
		Quiet: "A time in a user message or a result, a date alone.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"It is 09:41:07 now."}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"go"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"system","content":"Today is 2031-05-06."}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"user","content":"It is 09:41:07."}}
`,
		New: stateless(verify.Checker{Message: func(p *verify.Pass, m *transcript.Message) {
			if m.Role != transcript.System {
				return
			}
			if at := clockIn(m, clock); at != "" {
				f := p.Finding("the system text has a clock: %s", at)
				p.Report(f)
			}
			for i := range m.ToolsAdded {
				t := &m.ToolsAdded[i]
				old, ok := p.Path.Tools().Lookup(t.Name)
				if ok && sameTool(&old.Tool, t) && slices.Contains(m.ToolsRemoved, transcript.ToolRef{Name: t.Name}) {
					f := p.Finding("the tool %s is removed and added again unchanged", quote(t.Name))
					f.Subject = t.Name
					p.Report(f)
				}
			}
		}}),
	}
}

// clockIn finds a time to the second in the text of a system message. Times
// that are examples stand still: Go's reference time, and what is announced as
// an example or a format.
func clockIn(m *transcript.Message, clock *regexp.Regexp) string {
	texts := []string{m.Text()}
	for _, s := range m.Sections {
		texts = append(texts, s.Text)
	}
	for _, text := range texts {
		if strings.Count(text, ":") < 2 {
			continue
		}
		for _, at := range clock.FindAllStringSubmatchIndex(text, -1) {
			found := text[at[2]:at[3]]
			before := strings.ToLower(text[max(0, at[2]-48):at[2]])
			if found == "15:04:05" || found == "00:00:00" || found == "23:59:59" ||
				strings.Contains(before, "e.g.") || strings.Contains(before, "example") || strings.Contains(before, "format") {
				continue
			}
			return found
		}
	}
	return ""
}
