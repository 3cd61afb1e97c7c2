//go:build unix

package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Variables by which the test starts itself as the process that is killed.
const (
	killAt   = "TURNLOG_TEST_KILL_AT"   // the write at which it dies
	killPart = "TURNLOG_TEST_KILL_PART" // how much of that write is done, in percent
	killDir  = "TURNLOG_TEST_KILL_DIR"
)

func TestMain(m *testing.M) {
	if at, err := strconv.Atoi(os.Getenv(killAt)); err == nil {
		os.Exit(victim(at))
	}
	os.Exit(m.Run())
}

// killer kills its own process at a write of the journal.
type killer struct {
	journal.File
	left *int
	part int
}

func (k *killer) Write(p []byte) (int, error) {
	if *k.left--; *k.left > 0 {
		return k.File.Write(p)
	}
	if k.part > 0 {
		if _, err := k.File.Write(p[:len(p)*k.part/100]); err != nil {
			return 0, err
		}
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		return 0, err
	}
	select {} // dead
}

// victim plays eventful in a process of its own. Its tools write down what
// they did, so that it is known after the process is gone.
func victim(at int) int {
	dir := os.Getenv(killDir)
	part, err := strconv.Atoi(os.Getenv(killPart))
	if err != nil {
		return 9
	}
	f, err := task.Parse(filepath.Join(dir, "e.yaml"), []byte(eventful), task.Options{})
	if err != nil {
		return 9
	}
	sum, err := Run(context.Background(), Options{
		Files: []*task.File{f}, Out: filepath.Join(dir, "out"), Resume: true, Sync: journal.SyncNone,
		Sink: &NDJSON{W: os.Stdout},
		Wrap: func(f journal.File) journal.File { return &killer{File: f, left: &at, part: part} },
		Tools: func(*task.Task, []task.Tool) ([]loop.Tool, error) {
			return []loop.Tool{logged(dir, "look", loop.Read), logged(dir, "send", loop.External)}, nil
		},
	})
	if err != nil {
		return 9
	}
	return sum.ExitCode
}

func logged(dir, name string, e loop.Effects) loop.Tool {
	return loop.Tool{
		Tool:    transcript.Tool{Name: name, Description: name, Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
		Effects: e,
		Run: func(_ context.Context, c transcript.Call, _ func(loop.Result)) (loop.Result, error) {
			f, err := os.OpenFile(filepath.Join(dir, "effects"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				return loop.Result{}, err
			}
			defer f.Close()
			if _, err := fmt.Fprintln(f, name+string(c.Arguments)); err != nil {
				return loop.Result{}, err
			}
			return loop.Result{Content: []transcript.Block{transcript.TextBlock("done " + string(c.Arguments))}}, nil
		},
	}
}

// A process is killed with SIGKILL at every write of its transcript: before
// it, in the middle of it, and after it. Then the task is resumed, killed
// again at a later write, and so on to its end.
func TestFault55KillAtEveryWriteAndResume(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a few hundred processes")
	}
	points := 0
	for _, part := range []int{0, 50, 100} {
		for n := 1; killAndResume(t, n, part); n++ {
			points++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("killed at %d points", points)
}

// killAndResume reports whether the first process was killed.
func killAndResume(t *testing.T, n, part int) (killed bool) {
	t.Helper()
	dir := t.TempDir()
	var shown []*capture
	for try := range 20 {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", killAt, n+10*try), fmt.Sprintf("%s=%d", killPart, part), killDir+"="+dir)
		c := &capture{}
		cmd.Stdout = c
		err := cmd.Run()
		shown = append(shown, c)
		if err == nil {
			checkResumed(t, dir, shown)
			if t.Failed() {
				t.Logf("killed at write %d, %d%% of it done", n, part)
			}
			return try > 0 && !t.Failed()
		}
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
			t.Fatalf("killed at write %d, %d%% of it done, process %d: %v\n%s", n, part, try+1, err, c.buf.String())
		}
	}
	t.Fatalf("killed at write %d, %d%% of it done: never came to an end", n, part)
	return false
}

func checkResumed(t *testing.T, dir string, shown []*capture) {
	t.Helper()
	path := filepath.Join(dir, "out", "e.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	effects, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for line := range strings.Lines(string(effects)) {
		if ran[line]++; strings.HasPrefix(line, "send") && ran[line] > 1 {
			t.Errorf("%q ran %d times", line, ran[line])
		}
	}
	for _, f := range findings(t, path) {
		if f.Rule != "torn-line" {
			t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
		}
	}
	ids := map[string]bool{}
	for line := range transcript.Lines(bytes.NewReader(data), transcript.Options{}) {
		for _, e := range line.Records {
			if e.ID != "" && ids[e.ID] {
				t.Errorf("line %d: the entry %s is there twice", line.No, e.ID)
			}
			ids[e.ID] = true
		}
	}
	for _, c := range shown {
		checkShown(t, c, data)
	}
	ended, err := results.Read(filepath.Join(dir, "out"))
	if err != nil || ended["e"].ExitCode != 0 || ended["e"].Status == "" {
		t.Errorf("ended %+v, %v", ended, err)
	}
}
