package rule

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/secret"
)

func secretInTranscript() verify.Rule {
	finder := secret.New()
	return verify.Rule{
		ID:       "secret-in-transcript",
		Group:    groupSafety,
		Severity: verify.Error,
		Title:    "a credential stands in the transcript",
		Why: "Transcripts are shared, uploaded and kept; NDJSON goes into CI logs " +
			"(NousResearch/hermes-agent#19845, google-gemini/gemini-cli#22225, LambdaTest/kane-cli#77). Only patterns that hardly match anything else are looked for, and the value is never shown.",
		Fix:   "Revoke the credential first, then redact the copies of the file. Keep credentials out of the environment of tools.",
		Quiet: "Signatures and image data, placeholders of manuals.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"use AKIA0123456789ABCDEF please"}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"use AKIAIOSFODNN7EXAMPLE, or task-management-with-sk-learn-and-friends"}}
`,
		New: stateless(verify.Checker{Line: func(p *verify.Pass, l *transcript.Line) {
			for i := range l.Records {
				findSecrets(p, finder, l, &l.Records[i])
			}
		}}),
	}
}

func findSecrets(p *verify.Pass, finder *secret.Finder, l *transcript.Line, e *transcript.Entry) {
	for m := range finder.Find(e.Raw) {
		if field, depth := fieldAt(e.Raw, m.From); !opaque(field, depth) {
			start := max(0, bytes.Index(l.Raw, e.Raw)) // not at 0 on a glued line
			reportSecret(p, e, m.Kind, field, e.Raw[m.From:m.To], start+m.From+1)
		}
	}
	if l.Escaped {
		findEscaped(p, finder, e)
	}
}

func findEscaped(p *verify.Pass, finder *secret.Finder, e *transcript.Entry) {
	d := json.NewDecoder(bytes.NewReader(e.Raw))
	for {
		before := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			return
		}
		text, ok := token.(string)
		if raw := e.Raw[before:d.InputOffset()]; !ok || !bytes.Contains(raw, []byte(`\u00`)) {
			continue
		}
		for m := range finder.Find([]byte(text)) {
			if field, depth := fieldAt(e.Raw, int(d.InputOffset())-1); !opaque(field, depth) {
				reportSecret(p, e, m.Kind, field, []byte(text[m.From:m.To]), int(before)+1)
			}
		}
	}
}

func reportSecret(p *verify.Pass, e *transcript.Entry, kind, field string, value []byte, column int) {
	sum := sha256.Sum256(value)
	f := p.Finding("%s in the field %s (the value is not shown)", article(kind), quote(field))
	f.Entry = e.ID
	f.Column = column
	f.Subject = kind + " " + hex.EncodeToString(sum[:4])
	f.Snippet = "(" + kind + ")"
	p.Report(f)
}

func article(kind string) string {
	if strings.ContainsRune("AOaeio", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
}

// imageDepth is how many objects and lists are open at least around the data
// of an image: those of the entry, the message and the block. The data of a
// custom entry is further out, and is text like any other.
const imageDepth = 3

// opaque reports whether a field holds bytes that look random and may match
// anything.
func opaque(field string, depth int) bool {
	return depth > 0 && strings.HasSuffix(strings.ToLower(field), "signature") || field == "data" && depth >= imageDepth ||
		strings.Contains(field, "encrypted")
}

// fieldAt is the key of the string of a record that offset at lies in, the
// nearest one for elements of lists, and how many objects and lists are open
// there. If the string is a key itself, it is that of its object, at depth 0.
func fieldAt(raw []byte, at int) (field string, depth int) {
	field, depth, _ = fieldIn(jsonx.New(raw), at, "", 0)
	return field, depth
}

// fieldIn looks through the value at the position of s.
func fieldIn(s *jsonx.Scanner, at int, key string, open int) (field string, depth int, found bool) {
	switch s.Peek() {
	case '{':
		for o := s.Open(); s.Next(&o) && !found; {
			if at < o.NameTo {
				return key, 0, true
			}
			field, depth, found = fieldIn(s, at, o.Name, open+1)
		}
	case '[':
		for n := 0; s.Item(n) && !found; n++ {
			field, depth, found = fieldIn(s, at, key, open+1)
		}
	default:
		s.Value()
		return key, open, at < s.Pos
	}
	return field, depth, found
}
