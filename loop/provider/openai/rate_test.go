package openai

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay/transcript"
)

// One model's 429 slows the other one down.
func TestLimiterIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := wire.NewLimiter(wire.Rate{Concurrent: 8})
		first, _ := serve(t, refuse(429, `{}`, "Retry-After", "20"), good).model(t, func(c *Config) { c.Limiter, c.Sleep = l, nil })
		second, _ := serve(t, good).model(t, func(c *Config) { c.Limiter = l })
		begin := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			r := collect(first, t.Context(), prompt("go"))
			r.wantStop(t, transcript.StopEnd, "ok")
		})
		synctest.Wait()
		r := collect(second, t.Context(), prompt("go"))
		r.wantStop(t, transcript.StopEnd, "ok")
		if waited := time.Since(begin); waited != 20*time.Second {
			t.Errorf("the second model waited %v", waited)
		}
		wg.Wait()
		if got := l.Rate(); got.Concurrent != 5 { // half of 8, and two successes
			t.Errorf("rate %+v", got)
		}
	})
}
