package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func invalidUTF8() verify.Rule {
	return verify.Rule{
		ID:       "invalid-utf8",
		Group:    groupFile,
		Severity: verify.Error,
		Title:    "a line is not valid UTF-8",
		Why: "Request bodies must be UTF-8, so a replacement character goes out and the text differs from the record without a word: Go's decoder replaces bad bytes and returns no error " +
			"(Tracer-Cloud/opensre#5750, modelscope/ms-agent#1000).",
		Fix:   "Decode the output of tools before it is recorded, and replace what is no UTF-8 there.",
		Quiet: "U+FFFD itself, which is valid, and a character that a cut tail ends in.",
		Since: "0.1.0",
		Bad:   "{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"Ren\xe9\"}}\n",
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"was bad once: \ufffd �"}}
`,
		New: noteRule(transcript.InvalidUTF8, func(n transcript.Note) string {
			return "bytes that are no UTF-8" + times(n.Count)
		}),
	}
}
