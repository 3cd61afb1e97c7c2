package rule

import (
	"math"
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func unsafeInteger() verify.Rule {
	return verify.Rule{
		ID:       "unsafe-integer",
		Group:    groupFile,
		Severity: verify.Error,
		Title:    "a tool argument holds an integer beyond 2^53-1: a JavaScript hop has rounded it, or will",
		Why: "The tool runs with a wrong id and succeeds: earendil-works/pi#8943 saw ten identical retries with a 19-digit id, each without an error. " +
			"An error if an earlier text of the path has the number before rounding, a warning otherwise.",
		Fix:   "Declare long ids as strings.",
		Quiet: "Big digits in strings, big integers in results and details.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"close ticket 7205759403792793601"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"close","arguments":{"ticket":7205759403792793600}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"close","content":[{"type":"text","text":"ok"}],"isError":false}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"close ticket 7205759403792793601"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"close","arguments":{"ticket":"7205759403792793601"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"close","content":[{"type":"text","text":"ok"}],"isError":false}}
`,
		New: stateless(verify.Checker{Message: func(p *verify.Pass, m *transcript.Message) {
			if m.Role == transcript.Assistant {
				reportUnsafe(p)
				return
			}
			for i := range m.Content {
				rememberNumbers(p, m.Content[i].Text)
			}
		}}),
	}
}

func reportUnsafe(p *verify.Pass) {
	for _, n := range p.Notes() {
		if n.Kind != transcript.UnsafeInteger {
			continue
		}
		f := p.Finding("the integer %s is beyond 2^53-1 and does not survive JavaScript", short(n.Text))
		f.Column, f.Subject, f.Severity = n.Column, n.Text, verify.Warning
		_, same := p.Recall(p.Hash(n.Text))
		if line, ok := p.Recall(neighbours(n.Text)); ok && !same {
			f.Severity = verify.Error
			f.Message = "the integer " + short(n.Text) + " was rounded: an earlier text has another one that rounds to it"
			f.Related = []verify.Related{{Line: line, Message: "the number before rounding"}}
		}
		p.Report(f)
	}
}

// shortestUnsafe is the number of digits of 2^53.
const shortestUnsafe = 16

// rememberNumbers remembers the long integers of a text. It looks at every
// 16th byte only: a shorter run of digits is of no interest.
func rememberNumbers(p *verify.Pass, text string) {
	for i := shortestUnsafe - 1; i < len(text); i += shortestUnsafe {
		if !isDigit(text[i]) {
			continue
		}
		from, to := i, i+1
		for from > 0 && isDigit(text[from-1]) {
			from--
		}
		for to < len(text) && isDigit(text[to]) {
			to++
		}
		if n := to - from; n >= shortestUnsafe && n < 30 {
			p.Remember(p.Hash(text[from:to]))
			p.Remember(neighbours(text[from:to]))
		}
		i = to - 1
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// neighbours is a key that integers share that JavaScript cannot tell apart.
func neighbours(digits string) uint64 {
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0
	}
	return math.Float64bits(math.Abs(f))
}
