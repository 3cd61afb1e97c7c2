package rule

import (
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func gluedRecords() verify.Rule {
	return verify.Rule{
		ID:       "glued-records",
		Group:    groupFile,
		Severity: verify.Error,
		Title:    "one line carries a fragment and a record, or several records",
		Why: "A writer died inside a record and the next one appended to the open line. Loaders skip the line, so one accident loses two entries " +
			"(QwenLM/qwen-code#3681, earendil-works/pi#8575: about 150 files). What was recovered takes part in the other rules.",
		Fix:   "Break the line before each record that begins inside it. What the fragment held is lost.",
		Quiet: "The text }{ inside a string, and a whole last record without a line end.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"list the logs"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assis{"type":"message","id":"a3","parentId":"a1","message":{"role":"user","content":"hello?"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"what is }{\"type\":\"message\"} for?"}}
`,
		New: stateless(verify.Checker{Line: func(p *verify.Pass, l *transcript.Line) {
			if l.Damage != transcript.Glued {
				return
			}
			what := "several records stand on one line"
			if n := len(l.Records); n == 1 {
				what = "a fragment and a record stand on one line"
			} else if n > 1 {
				what = strconv.Itoa(n) + " records stand on one line"
			}
			f := damage(p, l, what)
			f.Message = what
			p.Report(f)
		}}),
	}
}
