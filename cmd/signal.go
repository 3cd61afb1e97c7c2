package cmd

import (
	"syscall"
	"time"
)

// firstSignal is the signal that asked the process to end.
type firstSignal struct {
	signal syscall.Signal // 0 before there is one
	since  time.Time
}

// echo is how long the same signal again is not a second one. timeout(1) sends
// its signal to the process and then to the group that the process is in, and
// so do wrappers of commands: one request, two signals.
const echo = 250 * time.Millisecond

// again reports whether a signal at this time asks a second time.
func (f *firstSignal) again(s syscall.Signal, now time.Time) bool {
	if f.signal == 0 {
		f.signal, f.since = s, now
		return false
	}
	return s != f.signal || now.Sub(f.since) > echo
}
