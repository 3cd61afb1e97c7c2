package policy

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnlog/turnlog/loop"
)

func TestClock(t *testing.T) {
	for _, test := range []struct {
		name       string
		wall, idle time.Duration
		play       func(*Clock)
		want       string
	}{
		{"wall", time.Minute, 0, func(c *Clock) { time.Sleep(2 * time.Minute) }, "wall: 1m0s"},
		{"idle", time.Hour, 10 * time.Second, func(c *Clock) { time.Sleep(11 * time.Second) }, "idle: 10s"},
		{"signs of life", 0, 10 * time.Second, func(c *Clock) {
			for range 5 {
				time.Sleep(9 * time.Second)
				c.Policy().Observe(loop.Event{})
			}
		}, ""},
		{"held", 0, 10 * time.Second, func(c *Clock) {
			first, second := c.Hold(), c.Hold()
			time.Sleep(time.Minute)
			c.touch()
			first()
			time.Sleep(time.Minute)
			second()
			time.Sleep(9 * time.Second)
		}, ""},
		{"after it was held", 0, 10 * time.Second, func(c *Clock) {
			first, second := c.Hold(), c.Hold()
			first()
			second()
			time.Sleep(11 * time.Second)
		}, "idle: 10s"},
		{"none", 0, 0, func(c *Clock) { defer c.Hold()(); c.touch(); time.Sleep(24 * time.Hour) }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stop Stop
				var cause error
				c := StartClock(test.wall, test.idle, &stop, func(err error) { cause = err })
				test.play(c)
				synctest.Wait()
				c.Stop()
				status, reason := stop.Status()
				var timeout *TimeoutError
				if reason != test.want || (test.want != "") != (status == Limit) || (test.want != "") != errors.As(cause, &timeout) {
					t.Errorf("%s %q, cause %v; want %q", status, reason, cause, test.want)
				}
			})
		})
	}
}
