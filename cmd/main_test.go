package cmd_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/turnlog/turnlog/cmd"
)

// Ten thousand files: sorted, one broken file hides no other, the exit code is
// the worst one's, and progress is on stderr.
func TestManyFiles(t *testing.T) {
	n := 10_000
	if testing.Short() {
		n = 500
	}
	dir := t.TempDir()
	const clean = `{"type":"session","version":3,"id":"s","timestamp":"2030-01-02T03:00:00.000Z","cwd":"/"}
{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":"one"}}
`
	torn := strings.Replace(clean, `"parentId"`, "\n", 1)
	for i := range n {
		content := clean
		if i == n/2 {
			content = torn
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.jsonl", i)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs strings.Builder
	code := cmd.Main(t.Context(), []string{"verify", "--progress", "always", "--format", "ndjson", dir},
		cmd.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	var files []string
	findings := 0
	for line := range strings.Lines(out.String()) {
		if name, ok := strings.CutPrefix(line, `{"type":"file","file":"`); ok {
			files = append(files, name[:strings.IndexByte(name, '"')])
		} else if strings.HasPrefix(line, `{"type":"finding"`) {
			findings++
		}
	}
	if len(files) != n || !slices.IsSorted(files) {
		t.Errorf("%d files of %d, sorted: %v", len(files), n, slices.IsSorted(files))
	}
	if findings == 0 {
		t.Error("the broken file is not reported")
	}
	if want := fmt.Sprintf("verify: %d of %d files", n, n); !strings.Contains(errs.String(), want) {
		t.Errorf("stderr does not say %q", want)
	}
}

// Standard output that cannot be written is exit code 3, not silence.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	out := filepath.Join(t.TempDir(), "out")
	runTurnlog(t, "run", "-q", "--out", out, "../fixtures/tasks/hello.yaml")
	for _, args := range [][]string{{"verify", out}, {"verify", "--format", "sarif", out}, {"replay", filepath.Join(out, "hello.jsonl")}, {"diff", filepath.Join(out, "hello.jsonl"), filepath.Join(out, "hello.jsonl")}, {"version"}, {"schema", "task"}, {"verify", "--list"}} {
		var errs strings.Builder
		code := cmd.Main(t.Context(), args, cmd.Streams{In: strings.NewReader(""), Out: full, Err: &errs})
		if code != 3 || !strings.HasPrefix(errs.String(), "turnlog: error: ") || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("turnlog %s: exit %d, stderr %q", strings.Join(args, " "), code, errs.String())
		}
	}
}

// A command that waits for its input notices a signal; the code says which.
func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, args := range [][]string{{"verify", "-"}, {"replay", "-"}, {"diff", "-", "../fixtures/ok/shop.jsonl"}} {
			t.Run(fmt.Sprint(sig, args), func(t *testing.T) {
				c := exec.Command(os.Args[0], append([]string{"-test.run=^TestAsTurnlog$", "--"}, args...)...)
				c.Env = append(os.Environ(), "AS_TURNLOG=1")
				in, err := c.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				var errs strings.Builder
				c.Stderr = &errs
				if err := c.Start(); err != nil {
					t.Fatal(err)
				}
				// More than a pipe holds: when it is all taken, the command is reading.
				header := `{"type":"session","version":3,"id":"s","cwd":"/"}` + "\n"
				blank := strings.Repeat("\n", 1<<18)
				for _, part := range []string{header, blank} {
					if _, err := io.WriteString(in, part); err != nil {
						t.Fatal(err)
					}
				}
				if err := c.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				_ = c.Wait()
				if got, want := c.ProcessState.ExitCode(), 128+int(sig); got != want {
					t.Errorf("exit code %d, want %d; stderr %q", got, want, errs.String())
				}
				name := map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}[sig]
				if !strings.Contains(errs.String(), "turnlog: error: stopped by "+name+"\n") {
					t.Errorf("stderr %q", errs.String())
				}
			})
		}
	}
}

// TestAsTurnlog is turnlog in a process of its own, for TestSignals.
func TestAsTurnlog(t *testing.T) {
	if os.Getenv("AS_TURNLOG") == "" {
		t.Skip("runs as a child of TestSignals")
	}
	args := os.Args[slices.Index(os.Args, "--")+1:]
	os.Exit(cmd.Main(context.Background(), args, cmd.System()))
}
