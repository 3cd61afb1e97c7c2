package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func loneSurrogate() verify.Rule {
	return verify.Rule{
		ID:       "lone-surrogate",
		Group:    groupFile,
		Severity: verify.Error,
		Title:    "a string holds half of a surrogate pair: every request built from it is refused",
		Why: "Providers answer 400 (no low surrogate in string) on every retry, so the session can never go on " +
			"(claude-code#68325, #69927, anomalyco/opencode#17758). A Go decoder makes U+FFFD of it without an error and cannot even see it.",
		Fix:   "Cut output between characters, not between UTF-16 units; take the half out with a context edit to use the session again.",
		Quiet: "A pair written as two escapes, and an escaped backslash before the u.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"cut here \ud83d"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"whole \ud83d\ude00, escaped \\ud83d"}}
`,
		New: noteRule(transcript.LoneSurrogate, func(n transcript.Note) string {
			return "half of a surrogate pair" + times(n.Count) + ": providers refuse every request that carries it"
		}),
	}
}
