package rule

import (
	"strings"

	"github.com/turnlog/turnlog/replay/internal/pmap"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func retriedSideEffect() verify.Rule {
	return verify.Rule{
		ID:       "retried-side-effect",
		Group:    groupSafety,
		Severity: verify.Error,
		Title:    "a call that was executed in a failed attempt was executed again",
		Why: "The retry could not see that the first attempt had its effect: payments made twice, mails sent twice " +
			"(agno-agi/agno#10366, crewAIInc/crewAI#5802: 2 to 6 effects, openai/openai-agents-python#4254: a new id on each try).",
		Fix:   "Retry the request, never a turn with executed calls; mark what tools change in the task file.",
		Quiet: "Tools that only read, a user who asks twice.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"send it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"send","arguments":{"to":"x","re":"y"}}],"stopReason":"error"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"send","content":[{"type":"text","text":"ok"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"assistant","content":[{"type":"toolCall","id":"c2","name":"send","arguments":{"re":"y","to":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a5","parentId":"a4","message":{"role":"toolResult","toolCallId":"c2","toolName":"send","content":[{"type":"text","text":"ok"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"send it"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"send","arguments":{"to":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"send","content":[{"type":"text","text":"ok"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","message":{"role":"user","content":"send it again"}}
{"type":"message","id":"a5","parentId":"a4","message":{"role":"assistant","content":[{"type":"toolCall","id":"c2","name":"send","arguments":{"to":"x"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a6","parentId":"a5","message":{"role":"toolResult","toolCallId":"c2","toolName":"send","content":[{"type":"text","text":"ok"}],"isError":false}}
`,
		New: stateless(verify.Checker{
			Memory: func() verify.Memory { return new(effects) },
			Message: func(p *verify.Pass, m *transcript.Message) {
				if m.Role == transcript.User {
					*p.Memory().(*effects) = effects{}
				}
			},
			Step:   func(p *verify.Pass, e *transcript.Entry) { p.Memory().(*effects).intent(e) },
			Answer: func(p *verify.Pass, a *verify.Answer) { p.Memory().(*effects).answer(p, a) },
		}),
	}
}

// effects is what was executed since the user spoke last.
type effects struct {
	failed pmap.Map[uint64, int]  // line of the result, by call, under messages that failed
	reads  pmap.Map[string, bool] // by id of a call: its tool is recorded as one that changes nothing, or as one that does
}

func (s *effects) Clone() verify.Memory { c := *s; return &c }

func (s *effects) intent(e *transcript.Entry) {
	if e.Custom == nil || e.Custom.CustomType != transcript.CustomCall {
		return
	}
	var intent transcript.CallIntent
	if e.Custom.Decode(&intent) == nil {
		s.reads = s.reads.Set(strings.Clone(intent.ToolCallID), intent.Repeatable())
	}
}

func (s *effects) answer(p *verify.Pass, a *verify.Answer) {
	if a.Call == nil || a.Kind == verify.Again || !a.Ran() {
		return
	}
	reads, recorded := s.reads.Get(a.Call.ID)
	if reads || !recorded && soundsLikeReading(a.Call.Name) {
		return
	}
	first, done := s.failed.Get(a.Call.Key)
	if done {
		f := a.Finding("%s was executed in an attempt that failed, and now again", quote(a.Call.Name))
		f.Subject = a.Call.ID
		f.Related = []verify.Related{{Line: first, Message: "the first execution"}}
		p.Explain(first)
		p.Report(f)
		s.failed = s.failed.Delete(a.Call.Key)
	}
	if a.Call.Turn.Failed {
		s.failed = s.failed.Set(a.Call.Key, a.Line)
	}
}

// soundsLikeReading guesses by the name of a tool whether it changes nothing,
// for transcripts of others, which do not record it.
func soundsLikeReading(name string) bool {
	switch strings.ToLower(name) {
	case "read", "read_file", "ls", "list", "list_dir", "grep", "rg", "find", "glob", "search", "web_search", "view":
		return true
	}
	return false
}
