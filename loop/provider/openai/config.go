package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/request"
	"github.com/turnlog/turnlog/replay"
)

// Config describes an endpoint and how patient to be with it. BaseURL and
// Model are required; every other zero value is a default.
type Config struct {
	BaseURL  string // up to and without /chat/completions, e.g. http://127.0.0.1:8080/v1
	Model    string // asked for when a request names no model
	Provider string // written into messages when a request names no provider; "" is "openai"

	// APIKey is asked before each attempt, so that keys may expire. Nil sends
	// no Authorization. The key never appears in errors, messages and deltas.
	APIKey func(context.Context) (string, error)

	// Params are members of the request body, passed as they are, in their
	// order. They stand in for a request that brings none of its own, as do
	// MaxTokens and Thinking. What turnlog writes itself (model, messages,
	// tools, stream) is refused here.
	Params    json.RawMessage
	MaxTokens int64
	Thinking  string

	Timeouts Timeouts
	Retry    RetryPolicy
	Limiter  *Limiter // shared by all models of an endpoint; nil is no limit
	Price    Price

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
	NewID func() string  // ids of calls that come without one
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

// Model asks one endpoint. It is safe for concurrent use; the encoded history
// is kept for one conversation at a time, so each task should have its own.
type Model struct {
	c        Config
	endpoint string // scheme, host and path, for messages
	defaults request.Defaults
	history  request.Cache
}

var _ loop.Model = (*Model)(nil)

// New checks c and returns the model. It does not contact the endpoint.
func New(c Config) (*Model, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil {
		return nil, errors.New("base URL: not a URL") // the parse error would repeat credentials in it
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("base URL: want http://host/path or https://host/path, as in http://127.0.0.1:8080/v1")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("base URL: a query or fragment cannot be kept, because /chat/completions is appended")
	case u.User != nil:
		return nil, errors.New("base URL: credentials in the URL are refused, give the API key by name")
	case c.Model == "":
		return nil, errors.New("model: no name given")
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.Provider = cmp.Or(c.Provider, "openai")
	c.Timeouts, c.Retry = c.Timeouts.withDefaults(), c.Retry.withDefaults()
	p, err := request.ParseParams(c.Params)
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
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
	if c.NewID == nil {
		c.NewID = newCallID
	}
	if c.Hold == nil {
		c.Hold = func() func() { return func() {} }
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return &Model{c: c, endpoint: u.String(), defaults: request.Defaults{
		Model: replay.ModelRef{Provider: c.Provider, ID: c.Model}, Params: p, MaxTokens: c.MaxTokens, Thinking: c.Thinking,
	}}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
