package wire

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// Rate is how much an endpoint is asked at most. Zero is no bound.
type Rate struct {
	Concurrent        int // requests under way
	RequestsPerMinute int // that start within any 60 seconds
}

const (
	smallestShare = 1.0 / 64
	// recovery is what one success gives back of the full rate: after a 429 has
	// halved it, ten successes in a row restore it.
	recovery = 1.0 / 20
)

// Limiter holds back requests to an endpoint, for all models that share it. It
// adds and multiplies as TCP does: a 429 halves the rate, at most once for the
// requests that were under way together, and each success gives a twentieth of
// the full rate back. Requests start in the order in which they asked.
type Limiter struct {
	mu      sync.Mutex
	max     Rate
	ceiling int     // stands in for max.Concurrent while there is no bound
	share   float64 // of the rate that is in force
	cuts    int     // how often share was cut
	running int
	starts  []time.Time // of the last minute
	paused  time.Time   // nothing starts before
	waiting []chan *slot
	timer   *time.Timer
}

// NewLimiter returns a limiter for one endpoint.
func NewLimiter(r Rate) *Limiter { return &Limiter{max: r, share: 1} }

// Rate is what is in force now. A bound that was never reached is its maximum.
func (l *Limiter) Rate() Rate {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Rate{l.concurrent(), l.perMinute()}
}

// slot is the right to one request.
type slot struct {
	l    *Limiter
	cuts int
}

// acquire waits until a request may start. A nil limiter never waits.
func (l *Limiter) acquire(ctx context.Context) (*slot, error) {
	if l == nil || ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	l.mu.Lock()
	ready := make(chan *slot, 1)
	l.waiting = append(l.waiting, ready)
	l.admit()
	l.mu.Unlock()
	select {
	case s := <-ready:
		return s, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, ready); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	} else { // admitted at the same moment
		l.running--
	}
	l.admit()
	return nil, context.Cause(ctx)
}

// release ends a request. Throttled is an answer that asked for fewer, pause
// how long it asked for none.
func (s *slot) release(succeeded, throttled bool, pause time.Duration) {
	if s == nil {
		return
	}
	l := s.l
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case throttled:
		if until := time.Now().Add(pause); until.After(l.paused) {
			l.paused = until
		}
		if s.cuts == l.cuts {
			l.cut()
		}
	case succeeded && s.cuts == l.cuts:
		l.share = min(l.share+recovery, 1)
	}
	l.running--
	l.admit()
}

// cut halves the rate. Where there is no bound, the requests under way are it.
func (l *Limiter) cut() {
	if l.max.Concurrent == 0 && l.share == 1 {
		l.ceiling = l.running
	}
	l.share = max(l.share/2, smallestShare)
	l.cuts++
}

// concurrent is the bound in force, 0 for none.
func (l *Limiter) concurrent() int {
	full := l.max.Concurrent
	if full == 0 && l.share < 1 {
		full = l.ceiling
	}
	return part(full, l.share)
}

func (l *Limiter) perMinute() int { return part(l.max.RequestsPerMinute, l.share) }

func part(full int, share float64) int {
	if full <= 0 {
		return 0
	}
	return max(int(math.Round(float64(full)*share)), 1)
}

// admit starts what may start, and sets the timer for what only has to wait.
func (l *Limiter) admit() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	for len(l.waiting) > 0 {
		if most := l.concurrent(); most > 0 && l.running >= most {
			return
		}
		now := time.Now()
		if at := l.earliest(now); at.After(now) {
			l.timer = time.AfterFunc(at.Sub(now), func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.admit()
			})
			return
		}
		l.running++
		if l.max.RequestsPerMinute > 0 {
			l.starts = append(l.starts, now)
		}
		l.waiting[0] <- &slot{l, l.cuts}
		l.waiting = l.waiting[1:]
	}
}

// earliest is when the next request may start.
func (l *Limiter) earliest(now time.Time) time.Time {
	n := 0
	for n < len(l.starts) && now.Sub(l.starts[n]) >= time.Minute {
		n++
	}
	l.starts = l.starts[n:]
	at := l.paused
	if most := l.perMinute(); most > 0 && len(l.starts) >= most {
		if next := l.starts[len(l.starts)-most].Add(time.Minute); next.After(at) {
			at = next
		}
	}
	return at
}
