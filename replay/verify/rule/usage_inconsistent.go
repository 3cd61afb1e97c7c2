package rule

import (
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func usageInconsistent() verify.Rule {
	return verify.Rule{
		ID:       "usage-inconsistent",
		Group:    groupCache,
		Severity: verify.Warning,
		Title:    "the token numbers of an answer contradict each other or its content",
		Why:      "Costs and limits are computed from them (Kilo-Org/kilocode#13983, titeya/dms-claudecode#52).",
		Fix:      "Normalise what the endpoint reports in one place: cached tokens are no part of input here.",
		Quiet:    "Failed answers, providers that report nothing, totals in which input includes cached tokens.",
		Since:    "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"usage":{"input":7,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":90},"stopReason":"stop"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"usage":{"input":7,"output":2,"cacheRead":5,"cacheWrite":0,"totalTokens":14},"stopReason":"stop"}}
`,
		New: stateless(verify.Checker{Entry: func(p *verify.Pass, e *transcript.Entry) {
			m := e.Message
			if m == nil || m.Role != transcript.Assistant || m.Failed() || m.Usage == nil {
				return
			}
			if why := usageFault(m); why != "" {
				p.Report(p.Finding("%s", why))
			}
		}}),
	}
}

func usageFault(m *transcript.Message) string {
	u := m.Usage
	const counted = transcript.HasInput | transcript.HasOutput | transcript.HasTotal
	sum := u.Input + u.Output + u.CacheRead + u.CacheWrite
	switch {
	case min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.TotalTokens, u.Reasoning) < 0:
		return "the usage has a negative number"
	case u.Has&counted == counted && u.TotalTokens != sum && u.TotalTokens != u.Input+u.Output:
		return "totalTokens is " + itoa(int(u.TotalTokens)) + ", the parts make " + itoa(int(sum))
	case u.Has&transcript.HasReasoning != 0 && u.Has&transcript.HasOutput != 0 && u.Reasoning > u.Output:
		return "reasoning has " + itoa(int(u.Reasoning)) + " tokens of " + itoa(int(u.Output)) + " in output"
	case u.Has&transcript.HasOutput != 0 && u.Output == 0 && u.Input+u.CacheRead > 0 && finished(m) && strings.TrimSpace(m.Text()) != "":
		return "the answer has text and 0 output tokens"
	}
	return ""
}
