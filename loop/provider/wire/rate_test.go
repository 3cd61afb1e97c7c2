package wire

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// take acquires a slot that must be free.
func take(t *testing.T, l *Limiter) *slot {
	t.Helper()
	s, err := l.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLimiterConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Rate{Concurrent: 3})
		running, most := 0, 0
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				s := take(t, l)
				mu.Lock()
				running++
				most = max(most, running)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				running--
				mu.Unlock()
				s.release(true, false, 0)
			})
		}
		wg.Wait()
		if most != 3 {
			t.Errorf("%d at once, want 3", most)
		}
	})
}

// No 60 seconds see more starts than allowed, and nothing waits without need.
func TestLimiterRequestsPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		l := NewLimiter(Rate{RequestsPerMinute: 10})
		var starts []time.Duration
		for i := range 35 {
			take(t, l).release(true, false, 0)
			starts = append(starts, time.Since(begin))
			if i < 5 {
				time.Sleep(time.Second)
			}
		}
		for i := range starts {
			if i >= 10 && starts[i]-starts[i-10] < time.Minute {
				t.Errorf("starts %d and %d are %v apart", i-10, i, starts[i]-starts[i-10])
			}
		}
		if last := starts[34]; last != 3*time.Minute+4*time.Second {
			t.Errorf("the last of 35 started after %v", last)
		}
	})
}

func TestLimiterShrinksAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Rate{Concurrent: 8, RequestsPerMinute: 600})
		var together []*slot
		for range 8 {
			together = append(together, take(t, l))
		}
		for _, s := range together {
			s.release(false, true, 0) // eight answers to one burst are one signal
		}
		if got := l.Rate(); got != (Rate{4, 300}) {
			t.Errorf("after a 429: %+v", got)
		}
		take(t, l).release(false, true, 0)
		take(t, l).release(false, true, 0)
		if got := l.Rate(); got != (Rate{1, 75}) {
			t.Errorf("after two more: %+v", got)
		}
		for range 9 {
			take(t, l).release(true, false, 0)
		}
		if got := l.Rate(); got.Concurrent != 5 || got.RequestsPerMinute != 345 {
			t.Errorf("after nine successes: %+v", got)
		}
		take(t, l).release(false, false, 0) // a failure says nothing
		for range 20 {
			take(t, l).release(true, false, 0)
		}
		if got := l.Rate(); got != (Rate{8, 600}) {
			t.Errorf("in the end: %+v", got)
		}
		for range 100 {
			take(t, l).release(false, true, 0)
		}
		if got := l.Rate(); got.Concurrent != 1 || got.RequestsPerMinute != 9 {
			t.Errorf("never nothing: %+v", got)
		}
	})
}

func TestLimiterWithoutBoundShrinksToWhatRuns(t *testing.T) {
	l := NewLimiter(Rate{})
	var all []*slot
	for range 10 {
		all = append(all, take(t, l))
	}
	all[0].release(false, true, 0)
	if got := l.Rate(); got.Concurrent != 5 {
		t.Errorf("after a 429 with ten under way: %+v", got)
	}
	for _, s := range all[1:] {
		s.release(true, false, 0)
	}
	for range 10 {
		take(t, l).release(true, false, 0)
	}
	if got := l.Rate(); got.Concurrent != 0 {
		t.Errorf("recovered: %+v", got)
	}
}

func TestLimiterPausesForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Rate{Concurrent: 4})
		take(t, l).release(false, true, 30*time.Second)
		begin := time.Now()
		take(t, l)
		if waited := time.Since(begin); waited != 30*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestLimiterCancelledWaitLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(Rate{Concurrent: 1})
		s := take(t, l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := l.acquire(ctx); err == nil {
			t.Error("a second slot")
		}
		s.release(true, false, 0)
		take(t, l)
	})
}
