package batch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// many makes n tasks of one file.
func many(t testing.TB, n int) []*task.File {
	t.Helper()
	cells := make([]string, n)
	for i := range cells {
		cells[i] = fmt.Sprintf("t%d", i)
	}
	const per = 500 // an axis has a bound
	var files []*task.File
	for start := 0; start < n; start += per {
		yaml := "version: 1\nname: n" + fmt.Sprint(start) + "\nprompt: go ${{ matrix.x }}\ntools: [{ name: look, description: a, run: [a] }, { name: send, description: a, run: [a] }]\n" +
			"model: { provider: scripted, responses: [{ text: a, calls: [{ name: look, arguments: { n: 1 } }, { name: send, arguments: { n: 2 } }] }, { text: done, usage: { input: 10, output: 2, totalTokens: 12 } }] }\n" +
			"matrix: { axes: { x: [" + strings.Join(cells[start:min(start+per, n)], ", ") + "] } }\n"
		files = append(files, parse(t, fmt.Sprint("n", start), yaml)...)
	}
	return files
}

func TestTwoThousandTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("runs 2000 tasks")
	}
	before := goleak.IgnoreCurrent()
	const n = 2000
	w := &world{ran: map[string]int{}}
	out := filepath.Join(t.TempDir(), "out")
	var peak atomic.Uint64
	sum, _, err := play(t, t.Context(), Options{
		Files: many(t, n), Out: out, Jobs: 64, Tools: w.tools, Sync: journal.SyncNone,
		Sink: sinkFunc(func(e *Event) error {
			if e.Type == TaskEnd && strings.HasSuffix(e.Task, "00") {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapAlloc))
			}
			return nil
		}),
	})
	if err != nil || sum.ExitCode != 0 || sum.Counts["ok"] != n || sum.Usage.TotalTokens != 12*n {
		t.Fatalf("%+v, %v", sum.Counts, err)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
	t.Logf("heap at most %d MiB", peak.Load()>>20)
	ended, err := results.Read(out)
	if err != nil || len(ended) != n {
		t.Errorf("%d ended, %v", len(ended), err)
	}
	for id := range ended {
		for _, f := range findings(t, filepath.Join(out, id+".jsonl")) {
			t.Fatalf("%s: line %d: %s [%s]", id, f.Line, f.Message, f.Rule)
		}
	}
}

// A signal in the middle: what ran is aborted and sealed, the rest skipped;
// resume completes them.
func TestFault69SignalInTheMiddleAndResume(t *testing.T) {
	const n = 60
	w := &world{ran: map[string]int{}}
	out := filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancelCause(t.Context())
	var ended atomic.Int64
	sum, err := Run(ctx, Options{
		Files: many(t, n), Out: out, Jobs: 8, Tools: w.tools, Sync: journal.SyncNone,
		Sink: sinkFunc(func(e *Event) error {
			if e.Type == TaskEnd && ended.Add(1) == 20 {
				cancel(fakeSignal(143))
			}
			return nil
		}),
	})
	if !errors.Is(err, fakeSignal(143)) || sum.ExitCode != 143 {
		t.Fatalf("exit %d, %v", sum.ExitCode, err)
	}
	if sum.Counts["ok"]+sum.Counts["aborted"]+sum.Counts["skipped"] != n || sum.Counts["skipped"] == 0 {
		t.Errorf("counts %v", sum.Counts)
	}
	for i := range sum.Results {
		r := &sum.Results[i]
		path := filepath.Join(out, r.ID+".jsonl")
		if r.Status == policy.Skipped {
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s was skipped and has a transcript", r.ID)
			}
			continue
		}
		if ks := kinds(entries(t, path)); ks[len(ks)-1] != "turnlog.end" {
			t.Errorf("%s (%s) ends with %s", r.ID, r.Status, ks[len(ks)-1])
		}
		for _, f := range findings(t, path) {
			t.Errorf("%s: line %d: %s [%s]", r.ID, f.Line, f.Message, f.Rule)
		}
	}
	again, _, err := play(t, t.Context(), Options{Files: many(t, n), Out: out, Jobs: 8, Tools: w.tools, Sync: journal.SyncNone, Resume: true})
	if err != nil || again.Counts["ok"] != n || again.Kept != sum.Counts["ok"] {
		t.Errorf("resumed: %v, kept %d of %d, %v", again.Counts, again.Kept, sum.Counts["ok"], err)
	}
	for i := range again.Results {
		path := filepath.Join(out, again.Results[i].ID+".jsonl")
		for _, f := range findings(t, path) {
			t.Errorf("resumed %s: line %d: %s [%s]", again.Results[i].ID, f.Line, f.Message, f.Rule)
		}
	}
}

func TestFault71OnePanicAmongAHundred(t *testing.T) {
	w := &world{ran: map[string]int{}}
	tools := func(tk *task.Task, list []task.Tool) ([]loop.Tool, error) {
		made, err := w.tools(tk, list)
		if strings.HasSuffix(tk.ID, "t42") {
			panic("a tool set that panics")
		}
		if strings.HasSuffix(tk.ID, "t43") {
			made[1].Run = func(context.Context, transcript.Call, func(loop.Result)) (loop.Result, error) {
				panic("a tool that panics")
			}
		}
		return made, err
	}
	sum, _, err := play(t, t.Context(), Options{Files: many(t, 100), Jobs: 8, Tools: tools, Sync: journal.SyncNone})
	if err != nil || sum.ExitCode != 3 {
		t.Errorf("exit %d, %v", sum.ExitCode, err)
	}
	if d := cmp.Diff(map[string]int{"ok": 99, "error": 1}, sum.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
}

// fullDisk takes n bytes over all files.
type fullDisk struct {
	journal.File
	left *atomic.Int64
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.left.Add(-int64(len(p))) >= 0 {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:len(p)/2])
	return n, errors.Join(syscall.ENOSPC, err)
}

func TestFault59DiskFull(t *testing.T) {
	whole := len(content(t, transcriptOf(t, &world{ran: map[string]int{}})))
	for size := 1; size < whole; size += 397 {
		var left atomic.Int64
		left.Store(int64(size))
		w := &world{ran: map[string]int{}}
		out := filepath.Join(t.TempDir(), "out")
		files := parse(t, "e", eventful)
		sum, c, err := play(t, t.Context(), Options{
			Files: files, Out: out, Tools: w.tools, Sync: journal.SyncNone,
			Wrap: func(f journal.File) journal.File { return &fullDisk{f, &left} },
		})
		if err != nil || sum.ExitCode != 3 || !strings.Contains(sum.Results[0].Reason, "no space left") {
			t.Fatalf("%d bytes: %+v, %v", size, sum.Results, err)
		}
		rs := c.records(t)
		if rs[len(rs)-1].Type != "batch_end" {
			t.Errorf("%d bytes: last event %s", size, rs[len(rs)-1].Type)
		}
		entries(t, filepath.Join(out, "e.jsonl")) // whole lines only
		// With room again, the task goes on.
		unfinished(t, out)
		sum, _, err = play(t, t.Context(), Options{Files: files, Out: out, Tools: w.tools, Sync: journal.SyncNone, Resume: true})
		if err != nil || sum.ExitCode != 0 {
			t.Errorf("%d bytes, resumed: %+v, %v", size, sum.Results, err)
		}
		for _, f := range findings(t, filepath.Join(out, "e.jsonl")) {
			t.Errorf("%d bytes, resumed: line %d: %s [%s]", size, f.Line, f.Message, f.Rule)
		}
		if w.ran[`send{"n":2}`] > 1 || w.ran[`send{"n":3}`] > 1 {
			t.Errorf("%d bytes, resumed: tools ran %v", size, w.ran)
		}
	}
}

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unfinished takes the results away.
func unfinished(t testing.TB, out string) {
	t.Helper()
	if err := os.Remove(filepath.Join(out, "results.ndjson")); err != nil {
		t.Fatal(err)
	}
}

func TestFault60SecondWriter(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	files := load(t, "hello.yaml")
	var second, resumed error
	_, err := Run(t.Context(), Options{Files: files, Out: out, Sink: sinkFunc(func(e *Event) error {
		if e.Type == "turn_end" && second == nil {
			_, second = Run(context.Background(), Options{Files: files, Out: out})
			_, resumed = Run(context.Background(), Options{Files: files, Out: out, Resume: true})
		}
		return nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{second, resumed} {
		var locked *journal.LockedError
		if !errors.As(err, &locked) || locked.PID != os.Getpid() || locked.Host == "" {
			t.Errorf("got %v, want the pid and host of the first", err)
		}
	}
}

// The clock goes back an hour in the middle of a run: order is that of the
// file, and no duration is negative.
func TestFault70ClockGoesBack(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ticks := 0
	clock := func() time.Time {
		if ticks++; ticks == 20 {
			now = now.Add(-time.Hour)
		}
		now = now.Add(time.Millisecond)
		return now
	}
	out := filepath.Join(t.TempDir(), "out")
	sum, c, err := play(t, t.Context(), Options{Files: load(t, "hello.yaml"), Out: out, Now: clock})
	if err != nil || sum.ExitCode != 0 || sum.Results[0].DurationMs < 0 || sum.DurationMs < 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if strings.Contains(c.buf.String(), `"durationMs":-`) || strings.Contains(content(t, filepath.Join(out, "hello.jsonl")), `"durationMs":-`) {
		t.Error("a negative duration")
	}
	for _, f := range findings(t, filepath.Join(out, "hello.jsonl")) {
		if f.Rule != "time-goes-back" {
			t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
		}
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, c, err := play(t, t.Context(), Options{Files: load(t, "hello.yaml"), Out: filepath.Join(dir, "out")})
	if !errors.Is(err, fs.ErrPermission) || c.buf.Len() > 0 {
		t.Errorf("%v, events %q", err, c.buf.String())
	}
}

func TestTaskRetries(t *testing.T) {
	yaml := "version: 1\nprompt: go\nbatch: { retries: 2 }\ntools: [{ name: look, description: a, run: [a] }, { name: send, description: a, run: [a] }]\nmodel: { provider: scripted, responses: [{ calls: [{ name: CALL, arguments: { n: 1 } }] }, { text: fine }] }\n"
	for call, attempts := range map[string]int{"look": 3, "send": 1} {
		t.Run(call, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			w := &world{ran: map[string]int{}}
			files := parse(t, "e", strings.ReplaceAll(yaml, "CALL", call))
			made := 0
			model := func(tk *task.Task) (loop.Model, error) {
				b := batch{}
				m, err := b.pool.New(tk, nil)
				made++
				if made <= max(attempts, 2) { // the check before the start counts
					m = failsSecond{m}
				}
				return m, err
			}
			sum, c, err := play(t, t.Context(), Options{Files: files, Out: out, Tools: w.tools, Model: model})
			if err != nil {
				t.Fatal(err)
			}
			res := sum.Results[0]
			want := map[string]policy.Status{"look": policy.OK, "send": policy.Error}[call]
			if made := res.Attempt; res.Status != want || made != attempts {
				t.Errorf("%s after %d attempts, want %s after %d", res.Status, made, want, attempts)
			}
			if n := strings.Count(c.buf.String(), `{"type":"task_retry"`); n != attempts-1 {
				t.Errorf("%d task_retry events", n)
			}
			if n := w.ran[`send{"n":1}`]; n > 1 {
				t.Errorf("send ran %d times", n)
			}
		})
	}
}

// A budget is shared: what was reported above a reservation ends its task, and
// with nothing left the others do not start.
func TestBudgetSkipsTheRest(t *testing.T) {
	var files []*task.File
	for i := range 10 {
		files = append(files, parse(t, fmt.Sprint("b", i), "version: 1\nprompt: go\nbatch: { budget: { tokens: 5000 } }\nmodel: { provider: scripted, responses: [{ text: a, usage: { input: 1900, output: 100, totalTokens: 2000 } }] }\n")...)
	}
	sum, _, err := play(t, t.Context(), Options{Files: files})
	if err != nil || sum.ExitCode != 4 {
		t.Errorf("exit %d, %v", sum.ExitCode, err)
	}
	if d := cmp.Diff(map[string]int{"ok": 2, "limit": 1, "skipped": 7}, sum.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
}

func TestFailFast(t *testing.T) {
	var files []*task.File
	for i, responses := range []string{"[{ text: a }]", "[]", "[{ text: a }]", "[{ text: a }]"} {
		files = append(files, parse(t, fmt.Sprint("f", i), "version: 1\nprompt: go\nmodel: { provider: scripted, responses: "+responses+" }\n")...)
	}
	sum, _, err := play(t, t.Context(), Options{Files: files, FailFast: true})
	if err != nil || sum.ExitCode != 3 {
		t.Errorf("exit %d, %v", sum.ExitCode, err)
	}
	if d := cmp.Diff(map[string]int{"ok": 1, "error": 1, "skipped": 2}, sum.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
}
