package rule

import (
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func nulBytes() verify.Rule {
	return verify.Rule{
		ID:       "nul-bytes",
		Group:    groupFile,
		Severity: verify.Error,
		Title:    "a line holds raw NUL bytes: a block was allocated and never written",
		Why: "What a power loss or a crash leaves. Whatever stood there is lost; one loader cut the model's context at the block without a word " +
			"(claude-code#49876, #76059: 143 KB, github/copilot-cli#2217). The bytes are taken out and the rest of the line is read.",
		Fix:   "Look for another copy of the file; write through fsync where a lost turn matters.",
		Quiet: "The escape \\u0000 inside a string, which is legal JSON.",
		Since: "0.1.0",
		Bad: "{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"go\"}}\n\x00\x00\x00\x00\n" +
			"{\"type\":\"message\",\"id\":\"a2\",\"parentId\":\"a1\",\"message\":{\"role\":\"user\",\"content\":\"on\"}}\n",
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"ends in \u0000"}}
`,
		New: noteRule(transcript.NULBytes, func(n transcript.Note) string {
			if n.Count == 1 {
				return "a raw NUL byte"
			}
			return strconv.Itoa(n.Count) + " raw NUL bytes"
		}),
	}
}
