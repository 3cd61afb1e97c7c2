package replay_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// FuzzFold: whatever the bytes, every entry has a state, in file order and on
// its own, and both are the same.
func FuzzFold(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds in testdata: %v", err)
	}
	for _, seed := range seeds {
		b, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tree, err := replay.Read(transcript.Lines(bytes.NewReader(b), transcript.Options{}))
		if err != nil {
			return
		}
		for i, s := range tree.All() {
			if i > 60 {
				break // states of their own are quadratic
			}
			alone := tree.State(i)
			if got, want := len(s.Context()), len(alone.Context()); got != want {
				t.Fatalf("entry %d: %d messages in file order, %d alone", i, got, want)
			}
			if got, want := s.Request().Project(replay.ModeNone).Digest(), alone.Request().Project(replay.ModeNone).Digest(); got != want {
				t.Fatalf("entry %d: %s in file order, %s alone", i, got, want)
			}
			alone.Request().Project(replay.ModeAdditions)
		}
	})
}
