//go:build unix

package journal

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnlog/turnlog/replay/transcript"
)

// A process that was killed while it forked leaves its lock to the child, until
// that executes its tool.
func TestLockOfAProcessThatIsGone(t *testing.T) {
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		pid   int
		holds time.Duration
		locks bool
	}{
		{"gone", dead.ProcessState.Pid(), 200 * time.Millisecond, true},
		{"gone, and another one writes", dead.ProcessState.Pid(), time.Hour, false},
		{"alive", os.Getpid(), 200 * time.Millisecond, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			j, path := create(t, Options{})
			add(t, j, header("s"), custom(t, "r", transcript.CustomRun, transcript.Run{Run: "r1", PID: test.pid, Host: host}))
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				release := time.AfterFunc(test.holds, func() { j.Close() })
				defer release.Stop()
				next, err := Open(path, Options{}, nil)
				var held *LockedError
				if test.locks != (err == nil) || !test.locks && !errors.As(err, &held) {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				if test.pid == os.Getpid() && time.Since(began) > 0 {
					t.Errorf("a writer that lives was waited for, %v", time.Since(began))
				}
				if next != nil {
					next.Close()
				}
			})
		})
	}
}
