//go:build !linux

package process

import (
	"os"
	"os/exec"
)

// adopt does nothing: only Linux hands orphans to whom it is told.
func adopt() {}

// awaitExit waits for the end of a process and reaps it.
func awaitExit(cmd *exec.Cmd) *os.ProcessState {
	state, _ := cmd.Process.Wait() // it is ours, and nobody else waits for it
	return state
}

func (f *family) leave() {}

// EndChildren does nothing here: only Linux tells whose child a process is.
func EndChildren() {}
