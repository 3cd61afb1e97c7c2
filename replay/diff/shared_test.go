package diff_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

// ignoring is what the command leaves out by default.
func ignoring() diff.Options { return diff.Options{Ignore: diff.Volatile()} }

// read reads bytes as a history that is read again from them.
func read(tb testing.TB, name string, content []byte, o diff.Options) *diff.History {
	tb.Helper()
	h, err := readAs(context.Background(), name, content, bytes.NewReader(content), transcript.Options{Scribble: true}, o)
	if err != nil {
		tb.Fatalf("read %s: %v", name, err)
	}
	return h
}

// readAs reads bytes as a session.
func readAs(ctx context.Context, name string, content []byte, at io.ReaderAt, lines transcript.Options, o diff.Options) (*diff.History, error) {
	f, err := foreign.Open(bytes.NewReader(content), name, "pi", lines)
	if err != nil {
		return nil, err
	}
	return diff.Read(ctx, f, at, o)
}

// compare compares two files by their bytes.
func compare(tb testing.TB, a, b []byte, o diff.Options) *diff.Result {
	tb.Helper()
	r, err := diff.Compare(context.Background(), read(tb, "a.jsonl", a, o), read(tb, "b.jsonl", b, o), o)
	if err != nil {
		tb.Fatalf("compare: %v", err)
	}
	return r
}

func text(tb testing.TB, r *diff.Result, o diff.TextOptions) string {
	tb.Helper()
	var b strings.Builder
	if err := r.WriteText(&b, o); err != nil {
		tb.Fatalf("write text: %v", err)
	}
	return b.String()
}

// transcripts are all files of the project and of the material beside it that
// can be compared.
func transcripts(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, pattern := range []string{
		"../../fixtures/*/*.jsonl", "../../../shared/pi-sessions/*.jsonl", "../../../shared/pi-sessions/legacy/*.jsonl", "../../../shared/verify/cases/*.jsonl",
	} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			files[name] = content
		}
	}
	if len(files) == 0 {
		tb.Fatal("no fixtures")
	}
	return files
}
