// Package tooltest has what the tests of tools share.
package tooltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/schema"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Run calls a tool as the loop does, with validated arguments, and wants it to
// succeed.
func Run(t testing.TB, tool loop.Tool, args map[string]any) loop.Result {
	t.Helper()
	r, err := Try(t, tool, args)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Try calls a tool as the loop does: with validated arguments.
func Try(t testing.TB, tool loop.Tool, args map[string]any) (loop.Result, error) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(tool.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	converted, err := s.Convert(raw)
	if err != nil {
		t.Fatalf("arguments of %s: %v", tool.Name, err)
	}
	return tool.Run(t.Context(), transcript.Call{ID: "c1", Name: tool.Name, Arguments: converted}, nil)
}

// OnlyText is the one text block of a result.
func OnlyText(t testing.TB, r loop.Result) string {
	t.Helper()
	if len(r.Content) != 1 || r.Content[0].Type != transcript.BlockText {
		t.Fatalf("want one text, got %+v", r.Content)
	}
	return r.Content[0].Text
}

// WriteFile writes a file below dir.
func WriteFile(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Until waits for another process to come to a state.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("gave up waiting until %s", what)
		}
	}
}

// ReadPID waits for the line with a process id that a program writes.
func ReadPID(t testing.TB, path string) int {
	t.Helper()
	var pid int
	Until(t, "there is a process id in "+path, func() bool {
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(string(data), "\n") {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(data)))
		return err == nil
	})
	return pid
}

// Running reports whether a process is there. One that has ended and waits to
// be reaped is not counted where that can be told.
func Running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // on Linux
	return p.Signal(syscall.Signal(0)) == nil && !bytes.Contains(stat, []byte(") Z "))
}

// JPEG is the start of a JPEG file.
var JPEG = []byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9")
