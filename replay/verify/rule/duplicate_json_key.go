package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func duplicateJSONKey() verify.Rule {
	return verify.Rule{
		ID:       "duplicate-json-key",
		Group:    groupFile,
		Severity: verify.Error,
		Title:    "an object names a key twice, or two known keys that differ only by case",
		Why: "Two readers see two histories: most decoders keep the last value, some the first, and Go's encoding/json takes Content for content where JavaScript keeps them apart. " +
			"An audit may read one value while the model was sent the other.",
		Fix:   "Find out who wrote the line; the format's own writers never do.",
		Quiet: "Keys that differ by case inside arguments, parameters, details and other free data.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"keep it","Content":"drop it"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"env","arguments":{"path":"/tmp","PATH":"/bin"}}],"stopReason":"toolUse"}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"toolResult","toolCallId":"c1","toolName":"env","content":[],"isError":false}}
`,
		New: func(v verify.Values) verify.Checker {
			twice := noteRule(transcript.DuplicateKey, func(n transcript.Note) string {
				return "the key " + quote(n.Text) + " occurs twice in one object"
			})(v)
			folded := noteRule(transcript.FoldedKey, func(n transcript.Note) string {
				return "the key " + quote(n.Text) + " differs from another one only by case"
			})(v)
			return verify.Checker{Line: func(p *verify.Pass, l *transcript.Line) {
				twice.Line(p, l)
				folded.Line(p, l)
			}}
		},
	}
}
