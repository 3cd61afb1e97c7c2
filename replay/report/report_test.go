package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay/verify"
)

var update = flag.Bool("update", false, "rewrite golden files")

// files is a report with everything in it that renderers treat differently,
// and with text that is out to break each of them.
func files() []File {
	return []File{
		{Summary: verify.Summary{File: "runs/hello.jsonl", Format: "turnlog", Knowledge: verify.Exact, Entries: 12, Branches: 1, Seal: verify.SealOK}},
		{
			Summary: verify.Summary{File: "runs/a b%:,.jsonl", Format: "pi", Knowledge: verify.Exact, Entries: 10, Branches: 2, Seal: verify.SealNone},
			Findings: []verify.Finding{
				{
					Rule: "removed-tool-call", Severity: verify.Error, File: "runs/a b%:,.jsonl", Line: 8, Column: 73, Entry: "e07",
					Message: `bash is called, but it was removed on line 6`, Related: []verify.Related{{Line: 6, Message: "removed here"}, {Line: 2, Message: "declared here"}},
					Snippet: `{"type":"toolCall","id":"toolC2","name":"bash"}`, Fingerprint: "f1",
				},
				{
					Rule: "injected-instruction", Severity: verify.Note, File: "runs/a b%:,.jsonl", Line: 9, Column: 1, Entry: "e08",
					Message:     "\x1b[2J\x1b]8;;http://evil\x07<script>|@octocat `x`]]>&amp;\u202e\xff\r\n::error::forged",
					Snippet:     "\x1b[31m" + strings.Repeat("long ", 60),
					Fingerprint: "f2",
				},
			},
		},
		{
			Summary: verify.Summary{File: "runs/old.jsonl", Format: "pi", Knowledge: verify.Unknown, Entries: 3, Branches: 1, Seal: verify.SealNone, Notes: []string{"tools: unknown (the file records no declarations)"}},
			Findings: []verify.Finding{
				{Rule: "torn-tail", Severity: verify.Warning, File: "runs/old.jsonl", Line: 4, Column: 20, Message: "the last line is cut off", Fingerprint: "f3"},
				{Rule: "not-in-the-table", Severity: verify.Error, File: "runs/old.jsonl", Message: "about the file as a whole", Fingerprint: "f4"},
			},
		},
		{Summary: verify.Summary{File: "runs/readme.md", Format: "unknown", Knowledge: verify.Unknown, Seal: verify.SealNone, Notes: []string{"it looks like no JSON lines"}}},
		{Summary: verify.Summary{File: "runs/secret.jsonl", Format: "unknown", Knowledge: verify.Unknown, Seal: verify.SealNone}, Err: errors.New("open runs/secret.jsonl: permission denied")},
	}
}

func meta() Meta {
	return Meta{Version: "v1.2.3", FailOn: verify.Error, Rules: []verify.Rule{
		{ID: "removed-tool-call", Severity: verify.Error, Title: "A tool is called after it was removed", Why: "The provider refuses the next request.", Fix: "Look at what removed it."},
		{ID: "injected-instruction", Severity: verify.Note, Title: "A result is dressed as an instruction"},
		{ID: "torn-tail", Severity: verify.Warning, Title: "The last line is cut off"},
	}}
}

func render(t *testing.T, format string, m Meta, files []File) []byte {
	t.Helper()
	var b bytes.Buffer
	r, err := New(format, &b, m)
	if err != nil {
		t.Fatal(err)
	}
	var n Totals
	for _, f := range files {
		n.Add(f)
		if err := r.File(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(n); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			golden(t, format, render(t, format, meta(), files()))
		})
		t.Run(format+" of nothing", func(t *testing.T) {
			golden(t, format+".empty", render(t, format, Meta{}, nil))
		})
	}
	t.Run("text in colour", func(t *testing.T) {
		m := meta()
		m.Color = true
		golden(t, "text.color", render(t, "text", m, files()))
	})
	t.Run("step summary", func(t *testing.T) {
		m := meta()
		var summary bytes.Buffer
		m.StepSummary = &summary
		render(t, "github", m, files())
		golden(t, "github.summary", summary.Bytes())
	})
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "-")+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// Reports go to terminals and logs that obey control characters; the only ones
// left are our line ends and, if asked for, colours.
func TestNoControlCharacters(t *testing.T) {
	for _, format := range Formats() {
		for i, r := range string(render(t, format, meta(), files())) {
			if r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e) {
				t.Errorf("%s: control character %q at %d", format, r, i)
			}
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	_, err := New("xml", nil, Meta{})
	if want := `unknown format "xml" (known: text, json, ndjson, sarif, junit, github)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The json format is a contract: these keys, in this nesting, no null.
func TestJSONShape(t *testing.T) {
	out := render(t, "json", meta(), files())
	if bytes.Contains(out, []byte("null")) {
		t.Errorf("null in %s", out)
	}
	var got any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	validate(t, FindingSchema(), out)
	var report struct {
		Files []struct {
			Findings []json.RawMessage `json:"findings"`
		} `json:"files"`
		Summary Totals `json:"summary"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	if want := (Totals{Files: 5, Errors: 2, Warnings: 1, Notes: 1}); report.Summary != want {
		t.Errorf("summary %+v, want %+v", report.Summary, want)
	}
}

// A writer that fails is an error of every renderer, at the latest on Close.
func TestWriteError(t *testing.T) {
	for _, format := range Formats() {
		r, err := New(format, failing{}, meta())
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(r.File(files()[1]), r.Close(Totals{Files: 1}))
		if !errors.Is(err, errFull) {
			t.Errorf("%s: got %v, want %v", format, err, errFull)
		}
	}
}

var errFull = errors.New("no space left on device")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// many makes n findings of each severity.
func many(n int) []File {
	f := File{Summary: verify.Summary{File: "big.jsonl", Format: "pi", Knowledge: verify.Exact, Seal: verify.SealNone}}
	for i := range n {
		for _, s := range []verify.Severity{verify.Note, verify.Error, verify.Warning} {
			f.Findings = append(f.Findings, verify.Finding{
				Rule: "torn-line", Severity: s, File: f.File, Line: i + 1, Column: 1, Message: fmt.Sprintf("number %d", i), Fingerprint: fmt.Sprint(s, i),
			})
		}
	}
	return []File{f}
}
