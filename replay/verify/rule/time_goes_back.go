package rule

import (
	"strings"
	"time"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func timeGoesBack() verify.Rule {
	return verify.Rule{
		ID:       "time-goes-back",
		Group:    groupHistory,
		Severity: verify.Warning,
		Title:    "an entry was appended with an earlier time than the one before it",
		Why: "The clock was set, two machines write, or lines were moved. Never order entries by time: that broke causal order in mlx-node/mlx-node#100. " +
			"A note, beyond one hour a warning.",
		Fix:   "Find out which; the order of lines is what counts.",
		Quiet: "The times inside messages (an answer has that of its request), headers that were written later.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"message","id":"a1","parentId":null,"timestamp":"2031-05-06T07:00:09Z","message":{"role":"user","content":"one"}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2031-05-06T07:00:08Z","message":{"role":"user","content":"two"}}
`,
		Good: `{"type":"session","version":3,"id":"s","timestamp":"2031-05-06T08:00:00Z","cwd":"/tmp"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2031-05-06T07:00:08.5Z","message":{"role":"user","content":"one","timestamp":1936249208000}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2031-05-06T07:00:08.50Z","message":{"role":"user","content":"two","timestamp":1936249201000}}
`,
		New: func(verify.Values) verify.Checker {
			var last struct {
				time string
				line int
			}
			return verify.Checker{Entry: func(p *verify.Pass, e *transcript.Entry) {
				if e.Type == transcript.TypeSession || e.Timestamp == "" {
					return
				}
				if back := earlier(e.Timestamp, last.time); back > 0 {
					f := p.Finding("the entry is %v older than the one before it", back.Round(time.Millisecond))
					f.Severity = verify.Note
					if back > time.Hour {
						f.Severity = verify.Warning
					}
					f.Related = []verify.Related{{Line: last.line, Message: "the entry before"}}
					p.Report(f)
				}
				last.time, last.line = strings.Clone(e.Timestamp), e.Line
			}}
		},
	}
}

// earlier is how much a lies before b, 0 if it does not or one is no time.
func earlier(a, b string) time.Duration {
	if len(a) == len(b) && a >= b && a[len(a)-1] == 'Z' {
		return 0 // of one form, as nearly all are: the texts compare like the times
	}
	ta, errA := time.Parse(time.RFC3339Nano, a)
	tb, errB := time.Parse(time.RFC3339Nano, b)
	if errA != nil || errB != nil {
		return 0
	}
	return max(0, tb.Sub(ta))
}
