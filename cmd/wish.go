package cmd

import (
	"syscall"
	"time"
)

// wish is the first signal that asked the process to end.
type wish struct {
	signal syscall.Signal // 0 before there is one
	since  time.Time
}

// echo is how long the same signal again is not a second one. timeout(1) sends
// its signal to the process and then to the group that the process is in, and
// so do wrappers of commands: one wish, two signals.
const echo = 250 * time.Millisecond

// again reports whether a signal at this time is a second wish.
func (w *wish) again(s syscall.Signal, now time.Time) bool {
	if w.signal == 0 {
		w.signal, w.since = s, now
		return false
	}
	return s != w.signal || now.Sub(w.since) > echo
}
