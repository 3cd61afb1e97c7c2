package rule

import (
	"errors"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func tornLine() verify.Rule {
	return verify.Rule{
		ID:       "torn-line",
		Group:    groupFile,
		Severity: verify.Error,
		Title:    "a line inside the file is not JSON, and no whole record can be recovered from it",
		Why: "The entry is lost, and everything that hangs on it with it. Loaders differ: pi 1.6.0 drops the line without a word, " +
			"others refuse the whole session (claude-code#52387, github/copilot-cli#4098, MoonshotAI/kimi-code#3181).",
		Fix:   "Restore the line from a backup; if there is none, take up the work before it. Never delete the line: the gap would be hidden.",
		Quiet: "Blank lines, CRLF, raw U+2028 and U+2029 inside strings, lines of many megabytes.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"list the logs"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"There are
{"type":"message","id":"a3","parentId":"a1","message":{"role":"user","content":"again, please"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"list the logs"}}

{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"There are none."}],"stopReason":"stop"}}
`,
		New: stateless(verify.Checker{Line: func(p *verify.Pass, l *transcript.Line) {
			if l.Damage == transcript.TornLine && !has(l, transcript.NULBytes) {
				p.Report(damage(p, l, "the line is not JSON and nothing could be recovered from it"))
			}
		}}),
	}
}

// damage makes a finding about a line that could not be read.
func damage(p *verify.Pass, l *transcript.Line, message string) verify.Finding {
	f := p.Finding("%s", message)
	var syntax *transcript.SyntaxError
	if errors.As(l.Err, &syntax) {
		f.Column = syntax.Column
		f.Message += ": " + syntax.Msg
	}
	f.Snippet = excerpt(l.Raw, f.Column)
	return f
}

// has reports whether the line has a note of a kind.
func has(l *transcript.Line, kind transcript.NoteKind) bool {
	for _, n := range l.Notes {
		if n.Kind == kind {
			return true
		}
	}
	return false
}
