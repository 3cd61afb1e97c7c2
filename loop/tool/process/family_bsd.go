//go:build unix && !linux

package process

import (
	"syscall"
	"time"
)

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
