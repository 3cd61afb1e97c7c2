package cmd

import (
	"syscall"
	"testing"
	"time"
)

func TestSecondSignal(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  syscall.Signal
		second syscall.Signal
		after  time.Duration
		want   bool
	}{
		{"timeout(1)", syscall.SIGTERM, syscall.SIGTERM, time.Millisecond, false},
		{"an impatient person", syscall.SIGINT, syscall.SIGINT, time.Second, true},
		{"another signal", syscall.SIGINT, syscall.SIGTERM, time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var f firstSignal
			now := time.Now()
			if f.again(c.first, now) {
				t.Error("the first signal is taken for a second")
			}
			if got := f.again(c.second, now.Add(c.after)); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
