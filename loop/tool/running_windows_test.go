package tool

import "os"

// running reports whether a process is there.
func running(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil
}
