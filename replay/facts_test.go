package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// TestFactsKeepNoLine folds lines that are spoiled as soon as their memory may
// be used again.
func TestFactsKeepNoLine(t *testing.T) {
	for _, pattern := range []string{"testdata/*.jsonl", "../fixtures/ok/*.jsonl", "../fixtures/err/*.jsonl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := foldedLent(t, file, transcript.Options{})
			got := foldedLent(t, file, transcript.Options{Lend: true, Scribble: true})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, -want +got:\n%s", path, diff)
			}
		}
	}
}

type folded struct {
	Model  replay.ModelRef
	Tools  []replay.Declaration
	Prompt string
	Open   []transcript.Call
	Digest string
}

// foldedLent folds a file in its own order; that not all of it is one path does
// not matter here.
func foldedLent(t *testing.T, file []byte, o transcript.Options) folded {
	t.Helper()
	s, sent := replay.NewFacts(nil), replay.Sent{}
	for l, err := range transcript.Lines(bytes.NewReader(file), o) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Records {
			s.Apply(&l.Records[i])
			sent.Apply(&s, &l.Records[i])
		}
	}
	f := folded{
		Model: s.Model(), Tools: s.Tools(),
		Prompt: s.SystemPrompt(), Open: s.OpenCalls(),
	}
	f.Digest, _, _ = sent.Digest(&s, &transcript.Request{Model: "m"})
	return f
}
