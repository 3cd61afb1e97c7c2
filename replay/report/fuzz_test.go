package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/turnlog/turnlog/replay/verify"
)

// Whatever a transcript says: no renderer fails, no control character gets
// out, and machines can read what is for them.
func FuzzRenderers(f *testing.F) {
	for _, file := range files() {
		for _, finding := range file.Findings {
			f.Add(file.File, finding.Message, finding.Snippet)
		}
	}
	f.Add("\x9b31m", "\u009b31m\ufeff\u2028", "%0A::error::\x00\x7f\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, name, message, snippet string) {
		file := File{
			Summary:  verify.Summary{File: name, Format: "pi", Notes: []string{message}},
			Findings: []verify.Finding{{Rule: "a-rule", Severity: verify.Error, File: name, Line: 1, Column: 1, Message: message, Snippet: snippet, Related: []verify.Related{{Line: 1, Message: message}}}},
		}
		for _, format := range Formats() {
			m := meta()
			var summary bytes.Buffer
			m.StepSummary = &summary
			out := string(render(t, format, m, []File{file})) + summary.String()
			if !utf8.ValidString(out) {
				t.Errorf("%s: not UTF-8: %q", format, out)
			}
			for _, r := range out {
				if r != '\n' && unicode.IsControl(r) {
					t.Errorf("%s: control character %q in %q", format, r, out)
				}
			}
			if (format == "json" || format == "sarif") && !json.Valid([]byte(out[:strings.LastIndexByte(out, '}')+1])) {
				t.Errorf("%s: not JSON: %q", format, out)
			}
		}
	})
}
