package rule

import (
	"slices"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func noProgressLoop() verify.Rule {
	return verify.Rule{
		ID:       "no-progress-loop",
		Group:    groupSafety,
		Severity: verify.Warning,
		Title:    "turns repeat without producing anything",
		Why: "Three answers in a row with neither text nor a call, or two compactions with nothing said in between " +
			"(Kilo-Org/kilocode#7773, anomalyco/opencode#48828: 20 cycles a minute, earendil-works/pi#7253).",
		Fix:   "End the run after an empty answer; compact only when something was said since.",
		Quiet: "Failed messages, which retries leave behind.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"compaction","id":"a2","parentId":"a1","summary":"s","firstKeptEntryId":"a1","tokensBefore":9000}
{"type":"compaction","id":"a3","parentId":"a2","summary":"s","firstKeptEntryId":"a1","tokensBefore":9000}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"compaction","id":"a2","parentId":"a1","summary":"s","firstKeptEntryId":"a1","tokensBefore":9000}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"text","text":"on it"}],"stopReason":"stop"}}
{"type":"compaction","id":"a4","parentId":"a3","summary":"s","firstKeptEntryId":"a3","tokensBefore":9000}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(idle) },
			Step: func(p *verify.Pass, e *transcript.Entry) {
				if e.Compaction == nil {
					return
				}
				s := p.Memory().(*idle)
				if s.compaction > 0 {
					f := p.Finding("two compactions follow each other and nothing was said in between")
					f.Related = []verify.Related{{Line: s.compaction, Message: "the compaction before"}}
					p.Report(f)
				}
				s.compaction = e.Line
			},
			Message: func(p *verify.Pass, m *transcript.Message) { p.Memory().(*idle).message(p, m) },
		}),
	}
}

// emptyAnswers is how many empty answers in a row are a loop.
const emptyAnswers = 3

// idle is how long a path has been going without anything said.
type idle struct {
	compaction int   // line of the last one with nothing said since
	empty      []int // lines of the empty answers in a row
}

func (s *idle) Clone() verify.Memory { c := *s; c.empty = slices.Clip(c.empty); return &c }

func (s *idle) message(p *verify.Pass, m *transcript.Message) {
	switch {
	case m.Failed():
		return
	case m.Role != transcript.Assistant:
		if m.Role != transcript.System {
			s.empty = nil
		}
		return
	case says(m):
		*s = idle{}
		return
	}
	if !finished(m) || p.Turn().Continues {
		return
	}
	if len(s.empty) == emptyAnswers {
		p.Explain(p.Place().Line)
		return
	}
	s.empty = append(s.empty, p.Place().Line)
	if n := len(s.empty); n == emptyAnswers {
		f := p.Finding("%d answers in a row have neither text nor a call", n)
		for _, line := range s.empty[:n-1] {
			f.Related = append(f.Related, verify.Related{Line: line, Message: "an empty answer"})
		}
		for _, line := range s.empty {
			p.Explain(line)
		}
		p.Report(f)
	}
}
