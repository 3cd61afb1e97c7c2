//go:build unix

package tool

import "syscall"

// running reports whether a process is there. One that has ended and waits to
// be reaped is not counted where that can be told.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil && !zombie(pid) }
