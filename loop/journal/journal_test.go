package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/turnlog/turnlog/replay/transcript"
)

func header(id string) *transcript.Entry {
	return &transcript.Entry{
		Type: transcript.TypeSession, Timestamp: "2026-01-02T03:04:05.000Z",
		Header: &transcript.Header{Version: 3, ID: id, CWD: "/w"},
	}
}

func user(id, parent, text string) *transcript.Entry {
	m := transcript.UserText(text)
	return &transcript.Entry{
		Type: transcript.TypeMessage, ID: id, ParentID: parent,
		Timestamp: "2026-01-02T03:04:05.000Z", Message: &m,
	}
}

func custom(t testing.TB, id, kind string, data any) *transcript.Entry {
	t.Helper()
	c, err := transcript.NewCustom(kind, data)
	if err != nil {
		t.Fatal(err)
	}
	return &transcript.Entry{
		Type: transcript.TypeCustom, ID: id, Timestamp: "2026-01-02T03:04:05.000Z",
		Custom: c,
	}
}

func create(t testing.TB, o Options) (*Journal, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sub", "t.jsonl")
	j, err := Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j, path
}

func add(t testing.TB, j *Journal, es ...*transcript.Entry) {
	t.Helper()
	for _, e := range es {
		if err := j.Append(e); err != nil {
			t.Fatal(err)
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

// fakeFile counts what happens to a file and can fail a write.
type fakeFile struct {
	File
	writes, syncs int
	take          int   // bytes that the failing write still takes
	fail          error // of the next write
}

func (f *fakeFile) Write(p []byte) (int, error) {
	f.writes++
	if f.fail == nil {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:min(f.take, len(p))])
	return n, errors.Join(f.fail, err)
}

func (f *fakeFile) Sync() error { f.syncs++; return f.File.Sync() }

// wrap returns options whose file is fake once the journal is open.
func wrap(fake *fakeFile) func(File) File {
	return func(f File) File { fake.File = f; return fake }
}

func TestAppendIsOneWritePerLine(t *testing.T) {
	var fake fakeFile
	j, path := create(t, Options{Wrap: wrap(&fake)})
	add(t, j, header("s"), user("a", "", "one\ntwo"), user("b", "a", "<&>"))
	if fake.writes != 3 || j.Lines() != 3 {
		t.Errorf("%d writes, %d lines; want 3, 3", fake.writes, j.Lines())
	}
	text := content(t, path)
	if n := strings.Count(text, "\n"); n != 3 || !strings.HasSuffix(text, "}\n") {
		t.Errorf("%d line ends in %q", n, text)
	}
	if j.Size() != int64(len(text)) || j.Session() != "s" {
		t.Errorf("size %d, session %q; the file has %d bytes", j.Size(), j.Session(), len(text))
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestCreateRefusesAFileThatExists(t *testing.T) {
	j, path := create(t, Options{})
	add(t, j, header("s"))
	j.Close()
	before := content(t, path)
	if _, err := Create(path, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want ErrExist", err)
	}
	if content(t, path) != before {
		t.Error("the file changed")
	}
}

func TestFault60SecondWriterIsToldOfTheFirst(t *testing.T) {
	j, path := create(t, Options{})
	add(t, j, header("s"), custom(t, "r", transcript.CustomRun, transcript.Run{Run: "r1", PID: 4711, Host: "build-7"}))
	want := LockedError{Path: path, PID: 4711, Host: "build-7"}
	for name, open := range map[string]func() error{
		"create": func() error { _, err := Create(path, Options{}); return err },
		"open":   func() error { _, err := Open(path, Options{}, nil); return err },
		"probe":  func() error { return Locked(path) },
	} {
		var got *LockedError
		if err := open(); !errors.As(err, &got) || *got != want {
			t.Errorf("%s: got %v, want %v", name, err, &want)
		}
	}
	j.Close()
	if err := Locked(path); err != nil {
		t.Errorf("after Close: %v", err)
	}
	second, err := Open(path, Options{}, nil)
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	second.Close()
}

func TestOpenRestoresWhatCreateKnew(t *testing.T) {
	j, path := create(t, Options{})
	add(t, j, header("s"), user("a", "", "one"))
	digest, lines, size := j.Digest(), j.Lines(), j.Size()
	j.Close()
	var seen []string
	r, err := Open(path, Options{}, func(l *transcript.Line) error {
		for _, e := range l.Records {
			seen = append(seen, e.Type+e.ID)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Digest() != digest || r.Lines() != lines || r.Size() != size || r.Session() != "s" {
		t.Errorf("digest %s lines %d size %d session %q", r.Digest(), r.Lines(), r.Size(), r.Session())
	}
	if got := strings.Join(seen, " "); got != "session messagea" {
		t.Errorf("lines seen: %s", got)
	}
	e := user("b", "a", "two")
	add(t, r, e)
	if e.Line != 3 {
		t.Errorf("line %d, want 3", e.Line)
	}
}

func TestFault58AnOpenTailIsClosedFirst(t *testing.T) {
	j, path := create(t, Options{})
	add(t, j, header("s"), user("a", "", "one"))
	j.Close()
	whole := content(t, path)
	for cut := range len(whole) {
		if err := os.WriteFile(path, []byte(whole[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, Options{}, nil)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		add(t, r, user("b", "a", "two"))
		digest := r.Digest()
		r.Close()
		text := content(t, path)
		if !strings.HasPrefix(text, whole[:cut]) {
			t.Fatalf("cut at %d: what was there changed", cut)
		}
		last := text[strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n")+1:]
		if e, err := transcript.ParseEntry([]byte(strings.TrimSuffix(last, "\n"))); err != nil || e.ID != "b" {
			t.Fatalf("cut at %d: last line %q: %v", cut, last, err)
		}
		again, err := Open(path, Options{}, nil)
		if err != nil || again.Digest() != digest {
			t.Fatalf("cut at %d: digest of the file differs from that of what was written: %v", cut, err)
		}
		again.Close()
	}
}

func TestFault59DiskFull(t *testing.T) {
	for _, take := range []int{0, 1, 20} {
		t.Run(fmt.Sprintf("after %d bytes", take), func(t *testing.T) {
			var fake fakeFile
			j, path := create(t, Options{Wrap: wrap(&fake)})
			add(t, j, header("s"))
			before := content(t, path)
			fake.fail, fake.take = syscall.ENOSPC, take
			if err := j.Append(user("a", "", "one")); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("got %v", err)
			}
			if got := content(t, path); got != before {
				t.Errorf("left in the file: %q", strings.TrimPrefix(got, before))
			}
			fake.fail = nil
			if err := j.Append(user("a", "", "one")); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("a failed journal goes on: %v", err)
			}
			if content(t, path) != before {
				t.Error("a failed journal wrote")
			}
		})
	}
}

// A writer that ignores the lock appended behind our short write: cutting the
// file would take its line away.
func TestShortWriteDoesNotCutWhatOthersWrote(t *testing.T) {
	var fake fakeFile
	j, path := create(t, Options{Wrap: wrap(&fake)})
	add(t, j, header("s"))
	fake.fail, fake.take = syscall.ENOSPC, 5
	other := "\n{\"type\":\"label\"}\n"
	fake.File = &intruder{File: fake.File, path: path, text: other}
	err := j.Append(user("a", "", "one"))
	if !errors.Is(err, syscall.ENOSPC) || j.Dirty() != 5 {
		t.Errorf("error %v, dirty %d; want ENOSPC, 5", err, j.Dirty())
	}
	if !strings.HasSuffix(content(t, path), other) {
		t.Errorf("the other writer's line is gone: %q", content(t, path))
	}
}

type intruder struct {
	File
	path, text string
}

func (i *intruder) Write(p []byte) (int, error) {
	n, err := i.File.Write(p)
	f, openErr := os.OpenFile(i.path, os.O_WRONLY|os.O_APPEND, 0)
	if openErr != nil {
		return n, openErr
	}
	defer f.Close()
	_, writeErr := f.WriteString(i.text)
	return n, errors.Join(err, writeErr)
}

func TestFault62SyncPolicies(t *testing.T) {
	entries := func(t testing.TB) []*transcript.Entry {
		return []*transcript.Entry{
			header("s"),
			user("a", "", "one"),
			custom(t, "c1", transcript.CustomCall, transcript.CallIntent{ToolCallID: "1", Effects: "read"}),
			custom(t, "c2", transcript.CustomCall, transcript.CallIntent{ToolCallID: "2", Effects: "write"}),
			custom(t, "c3", transcript.CustomCall, transcript.CallIntent{ToolCallID: "3", Effects: "external"}),
			custom(t, "c4", transcript.CustomCall, transcript.CallIntent{ToolCallID: "4"}),
			custom(t, "t", transcript.CustomTurn, transcript.TurnRecord{StopReason: "stop"}),
		}
	}
	for _, test := range []struct {
		sync Sync
		want int
	}{
		{SyncMessage, 7},
		{SyncTurn, 4}, // three intents (unknown effects count as external), one turn
		{"", 4},
		{SyncNone, 3},
	} {
		var fake fakeFile
		j, _ := create(t, Options{Sync: test.sync, Wrap: wrap(&fake)})
		add(t, j, entries(t)...)
		if fake.syncs != test.want {
			t.Errorf("%q: %d syncs, want %d", test.sync, fake.syncs, test.want)
		}
	}
}

func TestMaskChangesFileAndMemoryAlike(t *testing.T) {
	mask := func(line []byte) []byte {
		return bytes.ReplaceAll(line, []byte("hunter2"), []byte("[secret]"))
	}
	j, path := create(t, Options{Mask: mask})
	e := user("a", "", "the password is hunter2")
	add(t, j, header("s"), e)
	if strings.Contains(content(t, path), "hunter2") {
		t.Error("the secret is in the file")
	}
	if got := e.Message.Text(); got != "the password is [secret]" || e.Line != 2 {
		t.Errorf("in memory: %q, line %d", got, e.Line)
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
	if _, err := Create(filepath.Join(dir, "t.jsonl"), Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestSealCoversEveryByteBefore(t *testing.T) {
	j, path := create(t, Options{Mask: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("hunter2"), []byte("[secret]")) }})
	add(t, j, header("s"), user("a", "", "one"))
	digest, err := j.Seal(&transcript.Entry{ID: "e", ParentID: "a"}, transcript.End{Run: "r1", Session: "s", Status: "error", Reason: "hunter2 is wrong"})
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	text := content(t, path)
	if strings.Contains(text, "hunter2") {
		t.Error("the seal has the secret")
	}
	at := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n") + 1
	check := func(before string) error {
		var s transcript.Sealer
		_, _ = s.Write([]byte(before))
		e, err := transcript.ParseEntry([]byte(strings.TrimSuffix(text[at:], "\n")))
		if err != nil {
			t.Fatal(err)
		}
		end, err := s.Check(&e)
		if err == nil && (end.Digest != digest || end.Bytes != int64(at)) {
			t.Errorf("seal %+v, want digest %s, %d bytes", end, digest, at)
		}
		return err
	}
	if err := check(text[:at]); err != nil {
		t.Errorf("the file as it is: %v", err)
	}
	for i := range at {
		changed := []byte(text[:at])
		changed[i] ^= 1
		if err := check(string(changed)); !errors.Is(err, transcript.ErrSealBroken) {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
	}
}

// What no reader takes would make a file that nobody can verify or resume.
func TestAppendRefusesALineThatNobodyReads(t *testing.T) {
	j, path := create(t, Options{})
	add(t, j, header("s"), user("a", "", "one"))
	before := content(t, path)
	var tooLong *TooLongError
	if err := j.Append(user("b", "a", strings.Repeat("\x01", transcript.DefaultMaxLine/6))); !errors.As(err, &tooLong) {
		t.Fatalf("got %v", err)
	}
	if got := content(t, path); got != before {
		t.Error("some of it is in the file")
	}
	add(t, j, user("b", "a", "two"))
	if j.Lines() != 3 {
		t.Errorf("%d lines", j.Lines())
	}
}
