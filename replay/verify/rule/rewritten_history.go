package rule

import (
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func rewrittenHistory() verify.Rule {
	return verify.Rule{
		ID:       "rewritten-history",
		Group:    groupHistory,
		Severity: verify.Error,
		Title:    "the file is not what was sealed, or not what an earlier copy begins with",
		Why: "History is only appended; who rewrites it hides what the model was told, and loses the prompt cache from the changed byte on " +
			"(justrach/codegraff#457, claude-code#92089, bug-ops/zeph#6453). Each run of turnlog seals the file with a digest of all bytes before.",
		Fix:   "Compare with another copy: turnlog diff --append-only shows the first changed line.",
		Quiet: "Seals that a fork inherited, files without a seal, lines that were only encoded anew (a note), a redacted secret (a note), a migration to another version.",
		Since: "0.1.0",
		Needs: foreign.Links,
		Bad: `{"type":"session","version":3,"id":"s1","timestamp":"2031-05-06T07:00:00Z","cwd":"/tmp"}
{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"stop at 50"}}
{"type":"custom","id":"a2","parentId":"a1","customType":"turnlog.end","data":{"run":"r1","session":"s1","status":"ok","turns":0,"bytes":180,"digest":"v1:sha256:0000000000000000000000000000000000000000000000000000000000000000"}}
`,
		Good: `{"type":"session","version":3,"id":"s2","timestamp":"2031-05-06T07:00:00Z","cwd":"/tmp","parentSession":"/tmp/s1.jsonl"}
{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"stop at 50"}}
{"type":"custom","id":"a2","parentId":"a1","customType":"turnlog.end","data":{"run":"r1","session":"s1","status":"ok","turns":0,"bytes":180,"digest":"v1:sha256:0000000000000000000000000000000000000000000000000000000000000000"}}
`,
		New: stateless(verify.Checker{
			Entry: func(p *verify.Pass, _ *transcript.Entry) {
				if s := p.Sealed; s != nil && s.Broken != "" {
					p.Report(p.Finding("%s", s.Broken))
				}
			},
			Line: func(p *verify.Pass, _ *transcript.Line) {
				if d := p.Differs; d != nil {
					f := p.Finding("%s", d.Message)
					f.Severity = d.Severity
					if d.Severity == verify.Error {
						p.Explain(f.Line)
					}
					p.Report(f)
				}
			},
			End: func(p *verify.Pass) {
				for _, message := range p.File.Altered {
					p.Report(verify.Finding{Message: message, Subject: message})
				}
			},
		}),
	}
}
