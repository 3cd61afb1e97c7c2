package openai

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay/transcript"
)

func TestAbort(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		e := serve(t, stream(content("half")).then(stall))
		m, _ := e.model(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r := collect(m, ctx, prompt("go"))
		if r.message.StopReason != transcript.StopAborted || r.message.Text() != "half" || len(r.retries) != 0 {
			t.Errorf("got %q %q", r.message.StopReason, r.message.Text())
		}
		r = collect(m, ctx, prompt("go"))
		if r.message.StopReason != transcript.StopAborted || e.requests() != 1 {
			t.Errorf("aborted before: %q, %d requests", r.message.StopReason, e.requests())
		}
	})
}

func TestAbortWhileWaitingToRetry(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		m, _ := serve(t, refuse(500, `{}`)).model(t, func(c *Config) { c.Sleep = nil; c.Retry.Initial = time.Hour; c.Retry.Max = time.Hour })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		r := collect(m, ctx, prompt("go"))
		if r.message.StopReason != transcript.StopAborted || time.Since(begin) != time.Minute {
			t.Errorf("got %q after %v", r.message.StopReason, time.Since(begin))
		}
	})
}

func TestConsumerLeaves(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		l := wire.NewLimiter(wire.Rate{Concurrent: 1})
		m, _ := serve(t, stream(content("a")).then(stall), good).model(t, func(c *Config) { c.Limiter = l })
		for d := range m.Stream(t.Context(), prompt("go")) {
			if d.Kind == loop.TextDelta {
				break
			}
		}
		r := collect(m, t.Context(), prompt("go")) // the slot is free again
		r.wantStop(t, transcript.StopEnd, "ok")
	})
}

// One model may be asked by several conversations at once.
func TestConcurrentStreams(t *testing.T) {
	m, _ := serve(t, stream(tc(wholeCall), fin("tool_calls"), done)).model(t, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			q := prompt("go")
			for range 5 {
				r := collect(m, t.Context(), q)
				if len(r.message.Calls()) != 1 {
					t.Error(r.message.ErrorMessage)
				}
				q.Messages = append(q.Messages, r.message)
			}
		})
	}
	wg.Wait()
}
