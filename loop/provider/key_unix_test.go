//go:build unix

package provider

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func TestKeyFromCommand(t *testing.T) {
	t.Setenv("TURNLOG_TEST_KEY", "k1")
	for _, c := range []struct {
		argv      []string
		key, fail string
	}{
		{[]string{"echo", " k2 "}, "k2", ""},
		{[]string{"sh", "-c", "echo $TURNLOG_TEST_KEY"}, "k1", ""},
		{[]string{"sh", "-c", "echo secret; echo secret >&2; exit 3"}, "", "API key: sh ended with exit status 3"},
		{[]string{"sh", "-c", "echo secret; kill -KILL $$"}, "", "API key: sh was ended by signal: killed"},
		{[]string{"sh", "-c", "echo secret; echo b"}, "", "did not print one line"},
		{[]string{"sh", "-c", "head -c 100000 /dev/zero"}, "", "printed more than 65536 bytes"},
		{[]string{"true"}, "", "did not print one line"},
		{[]string{"/no/such/program"}, "", "no such file"},
		{nil, "", "there is no program to run"},
	} {
		key, err := keyFromCommand(c.argv...)(t.Context())
		if key != c.key || (err == nil) != (c.fail == "") {
			t.Errorf("%q: key %q, err %v; want %q, %q", c.argv, key, err, c.key, c.fail)
		}
		if err != nil && (!strings.Contains(err.Error(), c.fail) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: err %v, want %q", c.argv, err, c.fail)
		}
	}
}

// A run that ends while its key is asked for leaves no program behind.
func TestKeyCommandEndsWithTheRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells who descends from a process")
	}
	dir := t.TempDir()
	born := filepath.Join(dir, "born")
	if err := syscall.Mkfifo(born, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	left := make(chan error, 1)
	go func() {
		_, err := keyFromCommand("sh", "-c", "trap '' TERM; (setsid sleep 600 & echo $! > "+dir+"/stray); sleep 600 & echo $! > "+dir+"/child; echo > "+born+"; wait; wait")(ctx)
		left <- err
	}()
	if _, err := os.ReadFile(born); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-left; err == nil {
		t.Error("there is a key")
	}
	for _, name := range []string{"child", "stray"} {
		pid, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid)) + "/exe"); err == nil {
			t.Errorf("the %s is still there", name)
		}
	}
}
