package cmd_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnlog/turnlog/cmd"
)

// An auditor must not touch the evidence: bytes, times and modes of inputs are
// the same after every command that reads transcripts, whatever it found.
func TestFault64ReadersNeverWrite(t *testing.T) {
	dir := evidence(t)
	file := filepath.Join(dir, "tools.jsonl")
	before := fingerprints(t, dir)
	out := t.TempDir()
	calls := [][]string{
		{"verify", dir},
		{"verify", "--format", "json", "--fail-on", "never", dir},
		{"verify", "--write-baseline", filepath.Join(out, "known.json"), dir},
		{"verify", "--anchor", filepath.Join(dir, "results.ndjson"), dir},
		{"replay", file},
		{"replay", file, "--at", "turn:2", "--view", "state", "--format", "json"},
		{"replay", file, "--view", "request", "--wire"},
		{"replay", file, "--all", "--format", "ndjson"},
		{"diff", file, filepath.Join(dir, "torn.jsonl")},
		{"diff", "--at", "turn:2", "--format", "json", file, filepath.Join(dir, "shortened.jsonl")},
		{"diff", "--append-only", filepath.Join(dir, "torn.jsonl"), file},
	}
	for _, args := range calls {
		cmd.Main(t.Context(), args, cmd.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
		after := fingerprints(t, dir)
		for name, was := range before {
			if after[name] != was {
				t.Errorf("turnlog %s changed %s: %s, was %s", strings.Join(args, " "), name, after[name], was)
			}
		}
		if len(after) != len(before) {
			t.Errorf("turnlog %s made or removed files: %d, were %d", strings.Join(args, " "), len(after), len(before))
		}
	}
}

// evidence is a folder with a transcript of ours, damaged copies of it, and
// what else may lie around.
func evidence(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	runTurnlog(t, "run", "-q", "--out", dir, "../fixtures/tasks/tools.yaml")
	whole, err := os.ReadFile(filepath.Join(dir, "tools.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	for name, content := range map[string]string{
		"torn.jsonl":      string(whole[:900]),
		"glued.jsonl":     strings.Replace(string(whole), "}\n{", "}{", 1),
		"shortened.jsonl": strings.Join(append(lines[:5:5], lines[7:]...), ""),
		"notes.txt":       "not a transcript",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// A time far back, so that even a write within the clock's grain shows.
	past := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for name := range fingerprints(t, dir) {
		if err := os.Chtimes(name, past, past); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fingerprints has hash, time of change and mode of every file below dir.
func fingerprints(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		files[path] = fmt.Sprintf("%x %s %s", sha256.Sum256(content), info.ModTime().UTC(), info.Mode())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
