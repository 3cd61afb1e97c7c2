package policy

import (
	"fmt"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop"
)

// TimeoutError is the cause of a run that a clock ended.
type TimeoutError struct{ Limit string }

func (e *TimeoutError) Error() string { return e.Limit }

// Clock ends a task that takes too long, or in which nothing happens. It works
// by aborting the run: a tool that hangs asks no seam.
type Clock struct {
	stop  *Stop
	abort func(error)

	mu     sync.Mutex
	wall   *time.Timer
	idle   *time.Timer
	quiet  time.Duration // after which idle strikes
	held   int           // how many reasons there are to be quiet
	paused bool          // idle was stopped because of them
}

// StartClock starts the clocks of a task; zero durations have none. abort ends
// what the task is doing and is called once at most per clock.
func StartClock(wall, idle time.Duration, stop *Stop, abort func(error)) *Clock {
	c := &Clock{stop: stop, abort: abort, quiet: idle}
	if wall > 0 {
		c.wall = time.AfterFunc(wall, func() { c.strike(fmt.Sprintf("wall: %s", wall)) })
	}
	if idle > 0 {
		c.idle = time.AfterFunc(idle, func() { c.strike(fmt.Sprintf("idle: %s", idle)) })
	}
	return c
}

func (c *Clock) strike(limit string) {
	c.stop.Set(Limit, limit)
	c.abort(&TimeoutError{limit})
}

// Policy returns the seam: every event is a sign of life.
func (c *Clock) Policy() Policy {
	return Policy{Observe: func(loop.Event) { c.touch() }}
}

func (c *Clock) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A timer that fired already must not be started again.
	if c.idle != nil && c.held == 0 && c.idle.Stop() {
		c.idle.Reset(c.quiet)
	}
}

// Hold stops the idle clock while the task waits for something that is not the
// agent: its set-up, a check, the budget that other tasks have reserved, the
// rate of an endpoint.
func (c *Clock) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held++
	if c.idle != nil && c.idle.Stop() {
		c.paused = true
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.paused && c.held == 0 {
			c.paused = false
			c.idle.Reset(c.quiet)
		}
	}
}

// Stop stops the clocks.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = false
	for _, t := range []*time.Timer{c.wall, c.idle} {
		if t != nil {
			t.Stop()
		}
	}
}
