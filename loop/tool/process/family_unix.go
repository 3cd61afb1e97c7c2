//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
)

const (
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

// isolate gives a program a process group of its own, so that one signal
// reaches it and what it starts, and none of ours reaches it.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// signalGroup fails only if nobody is left, or for a group of another user.
func signalGroup(pid int, s syscall.Signal) { _ = syscall.Kill(-pid, s) }

func signalName(s *os.ProcessState) string {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return s.String()
}
