package audit

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestOrdered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		count := func(by int) {
			mu.Lock()
			defer mu.Unlock()
			running += by
			most = max(most, running)
		}
		inputs := []int{5, 1, 4, 1, 3, 2, 9, 1}
		work := func(_ context.Context, in int) int {
			count(1)
			defer count(-1)
			time.Sleep(time.Duration(in) * time.Second)
			return in
		}
		got := slices.Collect(ordered(t.Context(), inputs, 3, work))
		if !slices.Equal(got, inputs) {
			t.Errorf("got %v, want %v", got, inputs)
		}
		if most != 3 {
			t.Errorf("%d at once, want 3", most)
		}
	})
}

func TestOrderedEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var started atomic.Int32
		work := func(context.Context, int) int { return int(started.Add(1)) }
		for range ordered(ctx, make([]int, 100), 2, work) {
			cancel()
		}
		synctest.Wait()
		if n := started.Load(); n > 5 {
			t.Errorf("%d of 100 were started after the end", n)
		}
	})
}
