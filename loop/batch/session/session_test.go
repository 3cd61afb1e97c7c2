package session_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnlog/turnlog/loop/batch/session"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/replay/transcript"
)

// What one process writes another one finds: the next run of the same chain.
func TestGoOn(t *testing.T) {
	path := session.Path(t.TempDir(), "t", 1)
	s, err := session.Create(path, journal.Options{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	run := transcript.Run{Task: "t", TaskDigest: "d", Model: "m", Provider: "p"}
	if err := s.Start("/", "v"); err != nil {
		t.Fatal(err)
	}
	if id, err := s.Begin(run, ""); err != nil || id != "r1" {
		t.Fatalf("run %s, %v", id, err)
	}
	if s.Sealed() || s.Past() != nil {
		t.Error("sealed, or with a past, before its end")
	}
	leaf := s.History().Leaf()
	if err := errors.Join(s.Seal(transcript.End{Run: "r1", Status: "aborted"}), s.Close()); err != nil {
		t.Fatal(err)
	}

	if _, err := session.Open(path, journal.Options{}, time.Now, "other"); !errors.Is(err, session.ErrChanged) {
		t.Errorf("another task: %v", err)
	}
	again, err := session.Open(path, journal.Options{}, time.Now, "d")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if p := again.Past(); p.Runs != 1 || !p.Pending || p.End == nil || p.End.Status != "aborted" || !again.Sealed() {
		t.Errorf("past %+v", p)
	}
	if again.History().Leaf() == leaf || again.Digest() != s.Digest() || again.Header().Header.ID != s.Header().Header.ID {
		t.Error("another history")
	}
	if id, err := again.Begin(run, ""); err != nil || id != "r2" || again.Sealed() {
		t.Errorf("run %s, %v", id, err)
	}
}

func TestAttempts(t *testing.T) {
	out := t.TempDir()
	for n, path := range []string{"t.jsonl", "t.try2.jsonl"} {
		if path != filepath.Base(session.Path(out, "t", n+1)) {
			t.Errorf("attempt %d is %s", n+1, session.Path(out, "t", n+1))
		}
		s, err := session.Create(session.Path(out, "t", n+1), journal.Options{}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := session.Attempts(out, "t"); err != nil || got != n+1 {
			t.Errorf("%d attempts, %v; want %d", got, err, n+1)
		}
	}
	if _, err := session.Attempts(out, strings.Repeat("x", 5000)); err == nil {
		t.Error("a name that no file can have")
	}
}
