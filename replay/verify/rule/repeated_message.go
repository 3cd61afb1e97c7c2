package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func repeatedMessage() verify.Rule {
	return verify.Rule{
		ID:       "repeated-message",
		Group:    groupTree,
		Severity: verify.Error,
		Title:    "the same assistant message was appended twice on one path",
		Why: "The calls of the first copy have no results and those of the second have used ids: Anthropic and OpenAI refuse the history " +
			"(langchain-ai/deepagents#6321: clean-up after an interrupt saved the call again; claude-code#20640, #92089: a compaction appended the history again).",
		Fix:   "Save a message in one place, and look whether it is there before saving it again.",
		Quiet: "The parts of one answer on several lines, a user who says the same twice, the same call in answered turns of a provider that numbers calls per turn.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"toolResult","toolCallId":"c1","toolName":"read","content":[{"type":"text","text":"1"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"responseId":"r1","stopReason":"stop"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"go"}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"responseId":"r2","stopReason":"stop"}}
`,
		New: stateless(verify.Checker{
			Memory:  func() verify.Memory { return new(copiedRun) },
			Message: func(p *verify.Pass, m *transcript.Message) { p.Memory().(*copiedRun).next(p, m) },
		}),
	}
}

// copiedRun follows a run of messages that an earlier run of the path equals.
type copiedRun struct {
	length int          // of the run so far, 0 if there is none
	from   int          // line of its first message
	like   verify.Place // the earlier message that the last one equals
	first  verify.Place // the run's assistant message
	copyOf int
}

func (r *copiedRun) Clone() verify.Memory { c := *r; return &c }

// shortestRun is how many messages in a row must equal earlier ones where
// nothing else proves a copy: one call and its result may come back where a
// provider numbers calls per turn.
const shortestRun = 3

func (r *copiedRun) next(p *verify.Pass, m *transcript.Message) {
	if m.Role == transcript.System {
		return
	}
	if r.length > 0 {
		earlier, at, ok := p.MessageAfter(r.like)
		if !ok || earlier != p.HashMessage(m) || at.Line >= r.from {
			// Where the run runs into itself, something goes on and on: that is
			// for repeated-call to judge, nothing was appended twice.
			r.length = 0
		} else {
			r.length, r.like = r.length+1, at
		}
	}
	if t := p.Turn(); t != nil {
		switch {
		case t.RepeatOf != 0:
			reportCopy(p, t.Place, t.RepeatOf)
		case t.Like.Line != 0 && r.length == 0:
			r.start(p, t)
		}
	}
	if r.length == shortestRun {
		reportCopy(p, r.first, r.copyOf)
	}
}

// start begins a run at an assistant message, or one before it.
func (r *copiedRun) start(p *verify.Pass, t *verify.Turn) {
	r.length, r.like, r.first, r.copyOf, r.from = 1, t.Like, t.Place, t.Like.Line, t.Line
	there, _, ok := p.MessageBefore(t.Like)
	if here, at, also := p.MessageBefore(p.Place()); ok && also && here == there && at.Line > t.Like.Line {
		r.length, r.from = r.length+1, at.Line
	}
}

func reportCopy(p *verify.Pass, at verify.Place, of int) {
	f := at.Finding("the assistant message of line %d is here a second time", of)
	f.Related = []verify.Related{{Line: of, Message: "the first copy"}}
	p.Explain(at.Line)
	p.Report(f)
}
