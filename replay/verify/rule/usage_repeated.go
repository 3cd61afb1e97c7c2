package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func usageRepeated() verify.Rule {
	return verify.Rule{
		ID:       "usage-repeated",
		Group:    groupCache,
		Severity: verify.Warning,
		Title:    "the usage of one response is counted on several lines",
		Why: "Cost reports that add lines up are 1.2 to 4 times too high " +
			"(claude-code#87303, tddworks/ClaudeBar#207: 4.01 times, titeya/dms-claudecode#52: 1.80).",
		Fix:   "Group by the response id and take the last line of a group: output still grows from line to line.",
		Quiet: "Copies of a whole message, which repeated-message reports.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","responseId":"r1","content":[{"type":"text","text":"I read it."}],"usage":{"input":9,"output":4,"cacheRead":0,"cacheWrite":0,"totalTokens":13},"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","responseId":"r1","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"usage":{"input":9,"output":4,"cacheRead":0,"cacheWrite":0,"totalTokens":13},"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","responseId":"r1","content":[{"type":"text","text":"I read it."}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","responseId":"r1","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{}}],"usage":{"input":9,"output":4,"cacheRead":0,"cacheWrite":0,"totalTokens":13},"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(response) },
			Message: func(p *verify.Pass, m *transcript.Message) {
				if p.Turn() != nil {
					p.Memory().(*response).part(p, m)
				}
			},
		}),
	}
}

// response is what the lines of one answer count so far.
type response struct {
	line            int // of the first one that counts, 0 if there is none
	tokens, largest int64
}

func (r *response) Clone() verify.Memory { c := *r; return &c }

func (r *response) part(p *verify.Pass, m *transcript.Message) {
	if !p.Turn().Continues {
		*r = response{}
	}
	if m.Usage == nil || m.Usage.TotalTokens+m.Usage.Output == 0 {
		return
	}
	tokens := max(m.Usage.TotalTokens, m.Usage.Input+m.Usage.Output)
	r.tokens, r.largest = r.tokens+tokens, max(r.largest, tokens)
	if r.line == 0 {
		r.line = p.Place().Line
		return
	}
	f := p.Finding("the usage of one response stands on several lines: added up it is %d tokens, grouped %d", r.tokens, r.largest)
	f.Related = []verify.Related{{Line: r.line, Message: "counted before"}}
	p.Report(f)
}
