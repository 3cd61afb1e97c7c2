package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func strayBOM() verify.Rule {
	return verify.Rule{
		ID:       "stray-bom",
		Group:    groupFile,
		Severity: verify.Warning,
		Title:    "a byte order mark stands at the start of the file or of a line",
		Why:      "Strict JSON readers fail on the line (Go's encoding/json does), so a whole session may be refused for three invisible bytes.",
		Fix:      "Write UTF-8 without a mark.",
		Quiet:    "U+FEFF inside a string, which is ordinary text.",
		Since:    "0.1.0",
		Bad:      "\xef\xbb\xbf{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n",
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"a mark: \ufeff"}}
`,
		New: noteRule(transcript.ByteOrderMark, func(transcript.Note) string { return "a byte order mark" }),
	}
}
