package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// TestLeanKeepsNoLine folds lines that are spoiled as soon as their memory may
// be used again.
func TestLeanKeepsNoLine(t *testing.T) {
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
			want := leanFacts(t, file, transcript.Options{})
			got := leanFacts(t, file, transcript.Options{Lend: true, Scribble: true})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, -want +got:\n%s", path, diff)
			}
		}
	}
}

type folded struct {
	Leaf   string
	IDs    []string
	Model  replay.ModelRef
	Tools  []replay.Declaration
	Prompt string
	Open   []transcript.Call
	Digest string
}

// leanFacts folds a file in its own order; that not all of it is one path does
// not matter here.
func leanFacts(t *testing.T, file []byte, o transcript.Options) folded {
	t.Helper()
	s := replay.NewLean()
	for l, err := range transcript.Lines(bytes.NewReader(file), o) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Records {
			s.Apply(&l.Records[i])
		}
	}
	f := folded{
		Leaf: s.Leaf(), IDs: slices.Collect(s.IDs()), Model: s.Model(), Tools: s.Tools(),
		Prompt: s.SystemPrompt(), Open: s.OpenCalls(),
	}
	f.Digest, _, _ = s.RequestDigest(&transcript.Request{Model: "m"})
	return f
}
