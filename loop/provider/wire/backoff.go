package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retries decides whether and when one request is sent again.
type retries struct {
	policy RetryPolicy
	now    func() time.Time
	rand   func() float64
	began  time.Time
	sent   int
	failed [refused + 1]int // by kind
}

func (e *Endpoint) newRetries() *retries {
	return &retries{policy: e.c.Retry, now: e.c.Now, rand: e.c.Rand, began: e.c.Now(), sent: 1}
}

// next gives the delay before the next attempt, and false if there is none.
func (r *retries) next(f *failure) (time.Duration, bool) {
	r.failed[f.kind]++
	if r.sent >= r.policy.Attempts || r.failed[f.kind] > f.kind.most(r.policy) {
		return 0, false
	}
	delay := r.delay(f.header)
	if r.policy.Total > 0 && r.now().Add(delay).Sub(r.began) > r.policy.Total {
		return 0, false
	}
	r.sent++
	return delay, true
}

// delay is what the endpoint asked for, or else doubles with each attempt. All
// clients of an endpoint fail at the same moment, so half of a delay of ours
// is chance, and up to a tenth is added to one of theirs.
func (r *retries) delay(h http.Header) time.Duration {
	if asked, ok := retryAfter(h, r.now()); ok {
		asked = min(asked, r.policy.RetryAfterMax)
		return asked + time.Duration(r.rand()*float64(min(asked/10, r.policy.Initial)))
	}
	d := r.policy.Initial
	for i := 1; i < r.sent && d < r.policy.Max; i++ {
		d *= 2
	}
	d = min(d, r.policy.Max)
	return d/2 + time.Duration(r.rand()*float64(d/2))
}

// retryAfter reads how long an endpoint asks to wait: milliseconds, seconds or
// a date. What is none of them, or in the past, is no wish.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	const longest = 24 * time.Hour // a float beyond it would overflow
	units := []struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}}
	for _, u := range units {
		text := strings.TrimSpace(h.Get(u.name))
		if text == "" {
			continue
		}
		if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 0 {
			return time.Duration(min(n, float64(longest/u.unit)) * float64(u.unit)), true
		}
		if at, err := http.ParseTime(text); err == nil && at.After(now) {
			return min(at.Sub(now), longest), true
		}
	}
	return 0, false
}
