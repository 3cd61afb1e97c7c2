//go:build !unix

package process

import (
	"os"
	"os/exec"
	"time"
)

const (
	terminate = 0
	kill      = 1
)

func isolate(*exec.Cmd) {}

func signalName(s *os.ProcessState) string { return s.String() }

// family is the process alone: there are no groups here.
type family struct{ process *os.Process }

func newFamily(pid int, _ string) *family {
	p, err := os.FindProcess(pid)
	if err != nil {
		return &family{}
	}
	return &family{p}
}

// signal cannot ask; it ends the process.
func (f *family) signal(int) { f.end(0) }

func (f *family) end(time.Duration) {
	if f.process != nil {
		_ = f.process.Kill() // it may be gone
	}
}
