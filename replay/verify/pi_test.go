package verify_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/verify"
)

// TestPiSessions reads what pi 1.6.0 wrote. Nothing that pi does is an error.
func TestPiSessions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "pi-sessions"), "*.jsonl"))
	if err != nil || len(files) < 14 {
		t.Fatalf("%d sessions: %v", len(files), err)
	}
	// Calls that pi itself answered with an error, since the tool was not
	// there, are the only thing that is worth a warning in them.
	want := map[string][]place{
		"errors.jsonl":       {{"undeclared-tool-call", 28}},
		"tool-changes.jsonl": {{"removed-tool-call", 13}},
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			result := checkFile(t, file)
			if got := places(result.Findings); !slices.Equal(got, want[filepath.Base(file)]) {
				t.Errorf("findings %v", result.Findings)
			}
			if verify.Worst(result.Findings) == verify.Error {
				t.Error("there is an error among them")
			}
			if s := result.Summary; s.Format != "pi" || s.Knowledge != verify.Exact || s.Entries < 8 || s.Seal != verify.SealNone {
				t.Errorf("summary %+v", s)
			}
		})
	}
}

// TestPiEvents reads what pi's JSON mode wrote.
func TestPiEvents(t *testing.T) {
	result := checkFile(t, shared(t, "pi-sessions", "json-mode.ndjson"))
	if len(result.Findings) > 0 || result.Summary.Format != "events" || result.Summary.Knowledge != verify.Exact {
		t.Errorf("%+v", result)
	}
}

// TestPiLegacy reads older versions and damaged files: what pi reads without
// loss is clean, and each damage is named.
func TestPiLegacy(t *testing.T) {
	damage := map[string][]place{
		"duplicate-id":     {{"duplicate-entry-id", 6}},
		"missing-parent":   {{"dangling-parent", 4}},
		"parent-cycle":     {{"parent-cycle", 4}},
		"torn-middle-line": {{"torn-line", 4}, {"dangling-parent", 5}},
	}
	for _, name := range []string{
		"v1", "v2", "no-final-newline", "blank-and-crlf", "unknown-type-and-future-version", "header-not-first",
		"duplicate-id", "missing-parent", "parent-cycle", "torn-middle-line", "torn-last-line",
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(name+"/"+when, func(t *testing.T) {
				want := damage[name]
				if name == "torn-last-line" {
					// pi ends the open line before it appends.
					want = map[string][]place{"before": {{"torn-tail", 7}}, "after": {{"torn-line", 7}}}[when]
				}
				result := checkFile(t, shared(t, "pi-sessions", "legacy", name+"."+when+".jsonl"))
				if got := places(result.Findings); !slices.Equal(got, want) {
					t.Errorf("findings %v, want %v", result.Findings, want)
				}
				if result.Summary.Knowledge != verify.Unknown {
					t.Errorf("knowledge %s", result.Summary.Knowledge)
				}
				notes := map[string]int{"header-not-first": 2, "unknown-type-and-future-version": 2}[name]
				if got := len(result.Summary.Notes); got != max(1, notes) {
					t.Errorf("notes %q", result.Summary.Notes)
				}
			})
		}
	}
}

// TestOldPi reads a real session of a pi that recorded no tools: no rule about
// tools may say anything.
func TestOldPi(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "transcripts", "pi"), "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal("no session", err)
	}
	for _, file := range files {
		result := checkFile(t, file)
		if result.Summary.Knowledge != verify.Unknown || len(result.Summary.Notes) != 1 {
			t.Errorf("%s: summary %+v", file, result.Summary)
		}
		for _, f := range result.Findings {
			if f.Rule != "cache-collapse" && f.Rule != "role-alternation" || f.Severity == verify.Error {
				t.Errorf("%s:%d: %s [%s]", file, f.Line, f.Message, f.Rule)
			}
		}
	}
}

// TestForeign looks at files of other programs: none is taken for a damaged
// one of ours.
func TestForeign(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "transcripts"), "*", "*"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	ours := map[string]bool{"pi-mono_large-session_v1.jsonl": true, "pi_small.jsonl": true, "openclaw_large.jsonl": true}
	for _, file := range files {
		result := checkFile(t, file)
		known := result.Summary.Format != "unknown"
		if known != ours[filepath.Base(file)] {
			t.Errorf("%s: format %s", file, result.Summary.Format)
		}
		if !known && (len(result.Findings) > 0 || len(result.Summary.Notes) != 1) {
			t.Errorf("%s: %+v", file, result)
		}
		for _, f := range result.Findings {
			// Results that hang on their call instead of an entry: for pi 1.6.0
			// what came before is lost to them.
			if f.Severity == verify.Error && (f.Rule != "dangling-parent" || !strings.HasPrefix(f.Subject, "tc-")) {
				t.Errorf("%s: %v", file, f)
			}
		}
	}
}
