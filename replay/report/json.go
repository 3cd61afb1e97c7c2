package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/turnlog/turnlog/replay/verify"
)

// jsonVersion counts incompatible changes of the json and ndjson formats.
// Fields are added without a new version; none changes its meaning.
const jsonVersion = 1

// fileRecord is a file in the json and ndjson formats.
type fileRecord struct {
	File      string           `json:"file"`
	Format    string           `json:"format"`
	Knowledge verify.Knowledge `json:"knowledge"`
	Entries   int              `json:"entries"`
	Seal      verify.Seal      `json:"seal"`
	Findings  []findingRecord  `json:"findings"`
	Error     string           `json:"error,omitempty"` // why the check could not be finished
}

type findingRecord struct {
	Rule        string          `json:"rule"`
	Severity    verify.Severity `json:"severity"`
	Line        int             `json:"line"`
	Column      int             `json:"column"`
	Entry       string          `json:"entry"`
	Message     string          `json:"message"`
	Related     []relatedRecord `json:"related"`
	Fingerprint string          `json:"fingerprint"`
}

type relatedRecord struct {
	Line    int    `json:"line"`
	Message string `json:"message"`
}

func newFileRecord(f File) fileRecord {
	r := fileRecord{
		File: f.File, Format: f.Format, Knowledge: f.Knowledge, Entries: f.Entries, Seal: f.Seal,
		Findings: make([]findingRecord, len(f.Findings)),
	}
	if f.Err != nil {
		r.Error = f.Err.Error()
	}
	for i := range f.Findings {
		r.Findings[i] = newFindingRecord(&f.Findings[i])
	}
	return r
}

func newFindingRecord(f *verify.Finding) findingRecord {
	r := findingRecord{
		Rule: f.Rule, Severity: f.Severity, Line: f.Line, Column: f.Column, Entry: f.Entry,
		Message: f.Message, Related: make([]relatedRecord, len(f.Related)), Fingerprint: f.Fingerprint,
	}
	for i, rel := range f.Related {
		r.Related[i] = relatedRecord(rel)
	}
	return r
}

// jsonReport is one object for machines. It is written file by file, so that
// ten thousand files need no memory.
type jsonReport struct {
	w     io.Writer
	files int
}

func newJSON(w io.Writer, _ Meta) Renderer { return &jsonReport{w: w} }

func (j *jsonReport) File(f File) error {
	var b bytes.Buffer
	j.open(&b)
	if j.files > 0 {
		b.WriteByte(',')
	}
	j.files++
	b.WriteByte('\n')
	if err := encode(&b, newFileRecord(f)); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	_, err := j.w.Write(b.Bytes())
	return err
}

func (j *jsonReport) open(b *bytes.Buffer) {
	if j.files == 0 {
		b.WriteString(`{"version":1,"files":[`)
	}
}

func (j *jsonReport) Close(t Totals) error {
	var b bytes.Buffer
	j.open(&b)
	b.WriteString(`],"summary":`)
	if err := encode(&b, t); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	b.WriteString("}\n")
	_, err := j.w.Write(b.Bytes())
	return err
}

// encode writes v and a line end. < > & stay as they are; what [Printable]
// would show is escaped, since people look at JSON in terminals too.
func encode(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeInvisible(b.Bytes()))
	return err
}

// escapeInvisible writes characters beyond ASCII that do not print as JSON
// escapes. In valid JSON they can only be inside strings.
func escapeInvisible(doc []byte) []byte {
	out := doc[:0:0]
	done := 0
	for i := 0; i < len(doc); {
		if doc[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(doc[i:])
		if !unicode.IsPrint(r) {
			out = append(out, doc[done:i]...)
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return doc
	}
	return append(out, doc[done:]...)
}
