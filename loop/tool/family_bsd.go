//go:build unix && !linux

package tool

import (
	"os/exec"
	"syscall"
	"time"
)

// adopt does nothing: only Linux hands orphans to whom it is told.
func adopt() {}

// awaitExit waits for the end of a process and reaps it; its status is kept.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() }

// family is a process and its group.
type family struct{ pid int }

func newFamily(pid int, _ string) *family { return &family{pid} }

func (f *family) signal(s syscall.Signal) { signalGroup(f.pid, s) }

// end asks those who are left of the group to end, then ends them.
func (f *family) end(patience time.Duration) {
	if patience > 0 && syscall.Kill(-f.pid, terminate) == nil {
		time.Sleep(patience)
	}
	signalGroup(f.pid, kill)
}

func (f *family) leave() {}

// EndChildren does nothing here: only Linux tells whose child a process is.
func EndChildren() {}
