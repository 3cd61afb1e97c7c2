package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config describes an endpoint and how patient to be with it. BaseURL is
// required; every other zero value is a default.
type Config struct {
	BaseURL string // what the format's path is appended to, e.g. http://127.0.0.1:8080/v1

	// APIKey is asked before each attempt, so that keys may expire. Nil sends
	// none. The key never appears in errors, messages and deltas.
	APIKey func(context.Context) (string, error)

	Timeouts Timeouts
	Retry    RetryPolicy
	Limiter  *Limiter // shared by all models of an endpoint; nil is no limit

	// Transport carries the requests; nil is NewTransport(Timeouts). Models of
	// one endpoint share connections when they share it.
	Transport http.RoundTripper

	// Hold is called when a request begins to wait for leave to go out: for its
	// turn at the limiter, a delay before it is sent again, its key. Release
	// is called when it goes on. Nil tells nobody.
	Hold func() (release func())

	// Tap sees the bytes of each answer as they arrive, before anything
	// interprets them; never a header. It must not keep the slice.
	Tap func([]byte)

	// Seams for tests. Nil is the real thing.
	Sleep func(context.Context, time.Duration) error
	Now   func() time.Time
	Rand  func() float64 // in [0, 1), the jitter of delays
}

// Timeouts bound the waiting for an endpoint. They count the time in which
// something is waited for, not what the consumer of the stream takes. Zero is
// the default, a negative value is no bound.
type Timeouts struct {
	Connect    time.Duration // TCP and TLS, each; default 10s
	FirstToken time.Duration // from the request to the first part of the answer; default 2m
	Idle       time.Duration // without a single byte; default 1m
	Progress   time.Duration // without a part of the answer, whatever else arrives; default 2m
	Request    time.Duration // one attempt as a whole; default 10m
}

// RetryPolicy says how often a request is repeated. Zero is the default.
type RetryPolicy struct {
	Attempts      int           // how often a request is sent at most, the first time included; default 5
	Initial       time.Duration // first delay, doubled from then on; default 1s
	Max           time.Duration // longest delay of our own; default 1m
	RetryAfterMax time.Duration // longest delay an endpoint may ask for, longer ones are cut; default 2m
	Total         time.Duration // no attempt starts later than this after the first; 0 is no bound
}

func (t Timeouts) withDefaults() Timeouts {
	return Timeouts{
		Connect:    cmp.Or(t.Connect, 10*time.Second),
		FirstToken: cmp.Or(t.FirstToken, 2*time.Minute),
		Idle:       cmp.Or(t.Idle, time.Minute),
		Progress:   cmp.Or(t.Progress, 2*time.Minute),
		Request:    cmp.Or(t.Request, 10*time.Minute),
	}
}

func (p RetryPolicy) withDefaults() RetryPolicy {
	return RetryPolicy{
		Attempts:      max(cmp.Or(p.Attempts, 5), 1),
		Initial:       cmp.Or(p.Initial, time.Second),
		Max:           cmp.Or(p.Max, time.Minute),
		RetryAfterMax: cmp.Or(p.RetryAfterMax, 2*time.Minute),
		Total:         p.Total,
	}
}

// Endpoint is where requests of one format go. It is safe for concurrent use.
type Endpoint struct {
	c      Config
	base   string // also its name in messages: scheme, host and path
	path   string
	client *http.Client
}

// New checks c and returns the endpoint whose requests go to path below the
// base URL. It does not contact it.
func New(path string, c Config) (*Endpoint, error) {
	base := strings.TrimRight(c.BaseURL, "/")
	u, err := url.Parse(base)
	if err != nil {
		return nil, errors.New("base URL: not a URL") // the parse error would repeat credentials in it
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("base URL: want http://host/path or https://host/path, as in http://127.0.0.1:8080/v1")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("base URL: a query or fragment cannot be kept, because %s is appended", path)
	case u.User != nil:
		return nil, errors.New("base URL: credentials in the URL are refused, give the API key by name")
	}
	e := &Endpoint{c: c.withDefaults(), base: base, path: path}
	e.client = &http.Client{
		Transport: e.c.Transport,
		// The answer to a redirected POST is not the answer to this request, and
		// following would hand the key to whoever is named.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return e, nil
}

func (c Config) withDefaults() Config {
	c.Timeouts, c.Retry = c.Timeouts.withDefaults(), c.Retry.withDefaults()
	if c.Transport == nil {
		c.Transport = NewTransport(c.Timeouts)
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Float64
	}
	if c.Hold == nil {
		c.Hold = func() func() { return func() {} }
	}
	return c
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d): // collected when nobody waits, since Go 1.23
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
