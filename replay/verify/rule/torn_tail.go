package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func tornTail() verify.Rule {
	return verify.Rule{
		ID:       "torn-tail",
		Group:    groupFile,
		Severity: verify.Warning,
		Title:    "the last line is cut off: the writer stopped in the middle of a record",
		Why: "Everything before it stands, but the last record is lost, and a writer that appends without looking glues the next one to it " +
			"(claude-code#52387: SIGKILL; Tracer-Cloud/opensre#6356: cut inside a character). An error where the run is known to have ended.",
		Fix:   "Resume the run: turnlog ends the open line before it appends. Otherwise add a line end and keep the fragment.",
		Quiet: "A whole last record without a line end, and a file that is being written at the moment.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"list the logs"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","con`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"list the logs"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"none"}],"stopReason":"stop"}}`,
		New: func(verify.Values) verify.Checker {
			var end ending
			return verify.Checker{Line: func(p *verify.Pass, l *transcript.Line) {
				end.read(l)
				if l.Damage != transcript.TornTail {
					return
				}
				f := damage(p, l, "the file ends inside a record")
				// What is torn behind a turnlog.end was written by a later run.
				if p.File.Finished || end.log() {
					f.Severity = verify.Error
					f.Message += "; the run had ended"
				}
				p.ReportIf(f, unlessGrowing)
			}}
		},
	}
}

// unlessGrowing keeps a finding about the end of a file unless a run was still
// writing it.
func unlessGrowing(file *verify.File, _ *verify.Finding) bool { return !file.Growing }
