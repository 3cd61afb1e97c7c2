package rule

import (
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func compactionSplitsPair() verify.Rule {
	return verify.Rule{
		ID:       "compaction-splits-pair",
		Group:    groupTree,
		Severity: verify.Error,
		Title:    "what a compaction keeps starts between a tool call and its result",
		Why: "The next request has a result without its call, which every provider refuses, on every retry; the full path looks right " +
			"(earendil-works/pi#4570, openclaw/openclaw#8525, anomalyco/opencode#27594, microsoft/autogen#3178).",
		Fix:   "Start the kept part at a user message, or at an assistant message with all its results.",
		Quiet: "A compaction between a call and its result whose kept part starts at the call or before it.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
{"type":"compaction","id":"a4","parentId":"a3","summary":"s","firstKeptEntryId":"a3","tokensBefore":9000}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"compaction","id":"a3","parentId":"a2","summary":"s","firstKeptEntryId":"a2","tokensBefore":9000}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(window) },
			Step: func(p *verify.Pass, e *transcript.Entry) {
				if e.Compaction != nil {
					p.Memory().(*window).compact(p, e.Compaction)
				}
			},
			Answer: func(p *verify.Pass, a *verify.Answer) {
				if a.CallAt == 0 || a.Kind == verify.Orphan || a.Call != nil && a.Call.Turn.Failed {
					return
				}
				w := p.Memory().(*window)
				if a.CallAt < w.from && a.Line > w.compaction.Line {
					w.report(p, a.CallAt, a.Line)
				}
			},
		}),
	}
}

// window is what the last compaction of a path kept.
type window struct {
	compaction verify.Place
	from       int // line of the first entry that it kept; 0 if that is not known
}

func (w *window) Clone() verify.Memory { c := *w; return &c }

func (w *window) compact(p *verify.Pass, c *transcript.Compaction) {
	first, _ := p.Kept(c)
	w.compaction, w.from = p.Place(), first.Line
	if first.Line == 0 || first.Line == w.compaction.Line {
		return
	}
	if call, result, ok := p.Severs(first); ok {
		w.report(p, call, result)
	}
}

func (w *window) report(p *verify.Pass, call, result int) {
	f := w.compaction.Finding("the kept part starts on line %d, after the call on line %d whose result on line %d it keeps", w.from, call, result)
	f.Related = []verify.Related{
		{Line: call, Message: "the call, left out"},
		{Line: result, Message: "its result, kept"},
	}
	p.Report(f)
}
