//go:build unix

package cmd_test

import (
	"bufio"
	"encoding/json"
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
)

// child is turnlog in a process of its own.
type child struct {
	*exec.Cmd
	out    *bufio.Reader
	outEnd io.Closer
	errs   strings.Builder
	lines  []string
}

// startRun starts turnlog run in dir; in is its standard input, nil is closed.
func startRun(t *testing.T, dir string, in io.Reader, args ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], append([]string{"-test.run=^TestAsTurnlog$", "--", "run"}, args...)...)}
	c.Env = append(os.Environ(), "AS_TURNLOG=1")
	c.Dir, c.Stdin, c.Stderr = dir, in, &c.errs
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.out, c.outEnd = w, bufio.NewReader(r), r
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = r.Close() })
	return c
}

// until reads events up to the first of a type.
func (c *child) until(t *testing.T, kind string) {
	t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			t.Fatalf("no %s in %d events: %v; stderr %q", kind, len(c.lines), err, c.errs.String())
		}
		c.lines = append(c.lines, line)
		if strings.HasPrefix(line, `{"type":"`+kind+`"`) {
			return
		}
	}
}

// finish reads the rest and returns the exit code.
func (c *child) finish(t *testing.T) int {
	t.Helper()
	rest, err := io.ReadAll(c.out)
	if err != nil {
		t.Fatal(err)
	}
	c.lines = slices.AppendSeq(c.lines, strings.Lines(string(rest)))
	_ = c.Wait() // the code is what counts
	return c.ProcessState.ExitCode()
}

// last is the last event.
func (c *child) last(t *testing.T) map[string]any {
	t.Helper()
	var e map[string]any
	if err := json.Unmarshal([]byte(c.lines[len(c.lines)-1]), &e); err != nil {
		t.Fatalf("last line %q: %v", c.lines[len(c.lines)-1], err)
	}
	return e
}

// sleeper is a task whose tool sleeps; stubborn does not even end when asked.
const sleeper = `version: 1
prompt: go
model: { provider: scripted, responses: [{ text: a, calls: [{ name: bash, arguments: { command: "echo ready; exec sleep 600" } }, { name: read, arguments: { path: t.yaml } }] }, { text: done }] }
tools: [read, bash]
tool_execution: { mode: sequential }
`

var stubborn = strings.Replace(sleeper, "echo ready; exec sleep 600", "trap '' TERM INT; echo ready; while :; do sleep 1; done", 1)

func taskDir(t *testing.T, yaml string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "t.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The first signal ends the run with closed calls, a seal and a last event.
func TestFault69OneSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := taskDir(t, sleeper)
			c := startRun(t, dir, nil, "--out", "out", "t.yaml")
			c.until(t, "tool_execution_update")
			if err := c.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			want := 128 + int(sig)
			if code := c.finish(t); code != want {
				t.Errorf("exit code %d, want %d; stderr %q", code, want, c.errs.String())
			}
			if last := c.last(t); last["type"] != "batch_end" || last["exitCode"] != float64(want) {
				t.Errorf("last event %v", last)
			}
			out := runTurnlog(t, "verify", filepath.Join(dir, "out", "t.jsonl"))
			if !strings.Contains(out, ": ok") {
				t.Errorf("verify says %s", out)
			}
			// And the task can go on.
			again := startRun(t, dir, nil, "--out", "out", "--resume", "--plan", "t.yaml")
			if code := again.finish(t); code != 0 || !strings.Contains(strings.Join(again.lines, ""), `"action":"resume"`) {
				t.Errorf("plan to resume: exit %d, %q", code, again.lines)
			}
		})
	}
}

// timeout(1) sends one signal twice, to the process and to its group: that is
// one request, and the run ends in order.
func TestFault69OneSignalTwice(t *testing.T) {
	dir := taskDir(t, sleeper)
	c := startRun(t, dir, nil, "--out", "out", "t.yaml")
	c.until(t, "tool_execution_update")
	for range 2 {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	if code := c.finish(t); code != 143 || c.last(t)["type"] != "batch_end" {
		t.Errorf("exit code %d, last event %v; stderr %q", code, c.last(t)["type"], c.errs.String())
	}
	if out := runTurnlog(t, "verify", filepath.Join(dir, "out", "t.jsonl")); !strings.Contains(out, "seal ok") {
		t.Errorf("verify says %s", out)
	}
}

// The second signal ends the process at once, whatever hangs; the transcript
// is what was written.
func TestFault69SecondSignal(t *testing.T) {
	dir := taskDir(t, stubborn)
	c := startRun(t, dir, nil, "--out", "out", "t.yaml")
	c.until(t, "tool_execution_update")
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	if code := c.finish(t); code != 130 && code != 143 {
		t.Errorf("exit code %d; stderr %q", code, c.errs.String())
	}
	if strings.HasPrefix(c.lines[len(c.lines)-1], `{"type":"batch_end"`) {
		t.Error("the run ended in order: the second signal came too late to show anything")
	}
	runTurnlog(t, "verify", filepath.Join(dir, "out", "t.jsonl"))
}

// A second signal leaves nobody behind: neither a tool that will not end when
// it is asked to, nor what left its process group.
func TestFault69SecondSignalEndsTools(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells whose child a process is")
	}
	dir := taskDir(t, strings.Replace(stubborn, "echo ready;", "mkfifo born; (setsid sh -c 'echo $$ > born; exec sleep 600' &); read stray < born; echo $$ $stray > pids; echo ready;", 1))
	c := startRun(t, dir, nil, "--out", "out", "t.yaml")
	c.until(t, "tool_execution_update")
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if err := c.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	c.finish(t)
	data, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	var pids [2]int
	if _, err := fmt.Sscan(string(data), &pids[0], &pids[1]); err != nil {
		t.Fatalf("pids %q: %v", data, err)
	}
	for _, pid := range pids {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d outlives the run", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// A reader that goes away ends the run with 3; the transcript is sealed.
func TestFault68ReaderGoesAway(t *testing.T) {
	dir := taskDir(t, strings.Replace(sleeper, "exec sleep 600", "true", 1))
	c := startRun(t, dir, nil, "--out", "out", "t.yaml")
	c.until(t, "batch_start")
	if err := c.outEnd.Close(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3; stderr %q", code, c.errs.String())
	}
	runTurnlog(t, "verify", filepath.Join(dir, "out", "t.jsonl"))
}

// Standard input is read for nothing: closed, empty, full of noise, or open
// for ever, a run ends.
func TestFault66StandardInputIsNotRead(t *testing.T) {
	dir := taskDir(t, "version: 1\nprompt: go\nmodel: { provider: scripted, responses: [{ text: a, calls: [{ name: bash, arguments: { command: cat } }] }, { text: done }] }\ntools: [bash]\n")
	open, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer open.Close()
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Skip(err)
	}
	defer zero.Close()
	for name, in := range map[string]io.Reader{"closed": nil, "empty": strings.NewReader(""), "open": open, "endless": zero} {
		t.Run(name, func(t *testing.T) {
			c := startRun(t, dir, in, "--out", "out-"+name, "t.yaml")
			if code := c.finish(t); code != 0 || c.last(t)["type"] != "batch_end" {
				t.Errorf("exit code %d; stderr %q", code, c.errs.String())
			}
		})
	}
}
