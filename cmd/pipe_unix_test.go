//go:build unix

package cmd_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func namedPipe(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe.jsonl")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	return name
}

// A named pipe is read like standard input, also where a file is read twice:
// at a branch. Shells make such names of <(command).
func TestNamedPipe(t *testing.T) {
	const branches = "../replay/testdata/forks.jsonl"
	content, err := os.ReadFile(branches)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify"}, {"replay", "--all", "--format", "ndjson"}, {"diff", branches}} {
		t.Run(args[0], func(t *testing.T) {
			want, _, wantCode := runQuietly(t.Context(), append(args, branches))
			pipe := namedPipe(t)
			written := make(chan error, 1)
			go func() { written <- os.WriteFile(pipe, content, 0o600) }()
			got, errs, code := runQuietly(t.Context(), append(args, pipe))
			if err := <-written; err != nil {
				t.Fatal(err)
			}
			if got = strings.ReplaceAll(got, pipe, branches); got != want || code != wantCode {
				t.Errorf("exit %d, of the file %d; stderr %q\n%s\nof the file:\n%s", code, wantCode, errs, got, want)
			}
		})
	}
}

// Nobody writes to the pipe: opening it waits until the command is stopped.
func TestNamedPipeWithoutWriter(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, args := range [][]string{{"verify"}, {"replay"}, {"diff", "../fixtures/ok/shop.jsonl"}} {
		if _, errs, code := runQuietly(ctx, append(args, namedPipe(t))); code == 0 || errs == "" {
			t.Errorf("%s: exit %d, stderr %q", args[0], code, errs)
		}
	}
}
