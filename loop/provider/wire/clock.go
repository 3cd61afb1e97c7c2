package wire

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// timeoutError says which clock ran out.
type timeoutError struct {
	what  string
	limit time.Duration
}

func (e *timeoutError) Error() string { return fmt.Sprintf("%s within %s", e.what, e.limit) }

// Timeout makes it a timeout for those who ask as net.Error does.
func (e *timeoutError) Timeout() bool { return true }

// clock watches one attempt. It runs only between start and stop, while the
// endpoint is waited for: a consumer that takes its time is not a stall. It
// keeps two times apart, that of bytes and that of progress, because pings
// keep a dead stream alive for those who only look at bytes.
type clock struct {
	limits Timeouts
	cancel context.CancelCauseFunc

	timer    *time.Timer
	began    time.Time
	total    time.Duration // waited in this attempt
	quiet    time.Duration // waited since the last progress
	headers  bool
	begun    bool // the answer has begun
	progress atomic.Bool
}

func newClock(t Timeouts, cancel context.CancelCauseFunc) *clock {
	return &clock{limits: t, cancel: cancel}
}

// start begins to wait.
func (c *clock) start() {
	if c.progress.Swap(false) {
		c.quiet, c.begun = 0, true
	}
	limit, why := time.Duration(-1), (*timeoutError)(nil)
	bound := func(waited, most time.Duration, what string) {
		if left := max(most-waited, 0); most > 0 && (why == nil || left < limit) {
			limit, why = left, &timeoutError{what, most}
		}
	}
	bound(c.total, c.limits.Request, "the answer was not complete (request timeout)")
	switch {
	case c.begun:
		bound(c.quiet, c.limits.Progress, "no progress in the stream (progress timeout)")
	case c.headers:
		bound(c.quiet, c.limits.FirstToken, "the answer did not begin (first_token timeout)")
	default:
		bound(c.quiet, c.limits.FirstToken, "no answer (first_token timeout)")
	}
	if c.headers {
		bound(0, c.limits.Idle, "no byte in the stream (idle timeout)")
	}
	c.began = time.Now()
	if why != nil {
		c.timer = time.AfterFunc(limit, func() { c.cancel(why) })
	}
}

// stop ends the waiting.
func (c *clock) stop() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	waited := time.Since(c.began)
	c.total, c.quiet = c.total+waited, c.quiet+waited
}

// answered says that the headers are there.
func (c *clock) answered() { c.headers = true }

// advanced says that a part of the answer arrived.
func (c *clock) advanced() { c.progress.Store(true) }
