package rule

import (
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func repeatedCall() verify.Rule {
	return verify.Rule{
		ID:       "repeated-call",
		Group:    groupSafety,
		Severity: verify.Warning,
		Title:    "the same call got the same answer several times in a row",
		Why: "A loop that costs tokens until somebody looks: PrimeIntellect-ai/prime-agent#1326 (20 to 23 times), xuzhougeng/wisp-science#395 (63 times, 225,000 tokens), " +
			"langchain-ai/langgraph#6731. Watching failures only misses the loops that succeed.",
		Fix:     "Tell the model that it has the answer, or end the run.",
		Quiet:   "Other arguments with the same result, polling whose results change, a user who asks again.",
		Since:   "0.1.0",
		Options: []verify.Option{{Name: "times", Default: 3, Least: 2, Doc: "how many times in a row make a loop"}},
		Bad:     repeatedSample("1", "1", "1"),
		Good:    repeatedSample("1", "1", "2"),
		New: func(v verify.Values) verify.Checker {
			times := v["times"]
			return verify.Checker{
				Memory: func() verify.Memory { return new(streak) },
				Message: func(p *verify.Pass, m *transcript.Message) {
					if m.Role == transcript.User || m.Role == transcript.Assistant && len(m.Calls()) == 0 && !p.Turn().Continues {
						*p.Memory().(*streak) = streak{}
					}
				},
				Answer: func(p *verify.Pass, a *verify.Answer) {
					if a.Call == nil || a.Kind == verify.Again {
						return
					}
					s := p.Memory().(*streak)
					result := p.HashContent(a.Message)
					if s.call != a.Call.Key || s.result != result || s.failed != a.Message.IsError {
						*s = streak{call: a.Call.Key, result: result, failed: a.Message.IsError, first: a.Call.Line}
					}
					s.times++
					if s.times != times {
						return
					}
					f := a.Call.Finding("%s was called %d times in a row with the same arguments and the same answer", quote(a.Call.Name), times)
					f.Subject = a.Call.ID
					f.Related = []verify.Related{{Line: s.first, Message: "the first of them"}}
					p.Report(f)
				},
			}
		},
	}
}

// streak is a run of equal calls with equal answers.
type streak struct {
	call, result uint64
	failed       bool
	times        int
	first        int // line of the first call
}

func (s *streak) Clone() verify.Memory { c := *s; return &c }

// repeatedSample makes a sample: one call again and again, with these results.
func repeatedSample(results ...string) string {
	var s strings.Builder
	s.WriteString(`{"type":"message","id":"u","parentId":null,"message":{"role":"user","content":"wait for it"}}` + "\n")
	parent := "u"
	for i, r := range results {
		n := itoa(i)
		s.WriteString(`{"type":"message","id":"a` + n + `","parentId":"` + parent + `","message":{"role":"assistant","content":[{"type":"toolCall","id":"c` + n + `","name":"poll","arguments":{"job":7}}],"stopReason":"toolUse"}}` + "\n")
		s.WriteString(`{"type":"message","id":"r` + n + `","parentId":"a` + n + `","message":{"role":"toolResult","toolCallId":"c` + n + `","toolName":"poll","content":[{"type":"text","text":"` + r + `"}],"isError":false}}` + "\n")
		parent = "r" + n
	}
	return s.String()
}
