// Package provider makes the model that a task names.
package provider

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/openai"
	"github.com/turnlog/turnlog/loop/provider/recorded"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Provider is a row of the table of providers.
type Provider struct {
	Name string
	New  func(*Pool, *task.Task, Hold) (loop.Model, error)
}

// Hold is called when a request begins to wait for leave to go out, because of
// the endpoint's rate or a failure; release when it goes on. Nil tells nobody.
type Hold func() (release func())

// Table lists the providers. One is added here and nowhere else.
func Table() []Provider {
	return []Provider{
		{task.OpenAI, newOpenAI},
		{task.Scripted, newScripted},
		{task.Recorded, newRecorded},
	}
}

// Names lists the providers by name.
func Names() []string {
	var names []string
	for _, p := range Table() {
		names = append(names, p.Name)
	}
	return names
}

// Pool is what the models of one process share: connections to an endpoint
// and its rate. The zero value is an empty pool.
type Pool struct {
	// Transport carries all requests; nil is one per endpoint.
	Transport http.RoundTripper

	limiters   sync.Map // *wire.Limiter by base URL
	transports sync.Map // *http.Transport by transportKey
}

type transportKey struct {
	baseURL  string
	timeouts task.Timeouts
}

// New makes the model of a task. The endpoint is not contacted. hold hears when
// its requests have to wait.
func (p *Pool) New(t *task.Task, hold Hold) (loop.Model, error) {
	for _, row := range Table() {
		if row.Name == t.Model.Provider {
			return row.New(p, t, hold)
		}
	}
	return nil, fmt.Errorf("unknown provider %q; there are %s", t.Model.Provider, strings.Join(Names(), ", "))
}

func newScripted(_ *Pool, t *task.Task, _ Hold) (loop.Model, error) {
	responses, err := scripted.Parse(t.Model.Responses)
	if err != nil {
		return nil, err
	}
	return scripted.New(responses), nil
}

// newRecorded reads the transcript that the task names. Its tools are real:
// only the answers are those of the recording.
func newRecorded(_ *Pool, t *task.Task, _ Hold) (loop.Model, error) {
	f, err := os.Open(t.Path(t.Model.From))
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	defer f.Close()
	r, err := recorded.Load(transcript.Lines(f, transcript.Options{}))
	if err != nil {
		return nil, fmt.Errorf("read the recording %s: %w", t.Model.From, err)
	}
	return r.Model(), nil
}

// The endpoint of a model that names none, and the variables that stand in for
// it and its key.
const (
	defaultBaseURL = "https://api.openai.com/v1"
	baseURLEnv     = "OPENAI_BASE_URL"
	apiKeyEnv      = "OPENAI_API_KEY"
)

// KeyEnv is the environment variable that holds the key of a model, "" if it
// needs none. A key is never sent to an address that a task file names unless
// the file names the key too.
func KeyEnv(m *task.Model) string {
	if m.Provider == task.OpenAI && m.APIKeyEnv == "" && m.BaseURL == "" && len(m.APIKeyCommand) == 0 {
		return apiKeyEnv
	}
	return m.APIKeyEnv
}

// BaseURL is the address of a model's endpoint, "" if it has none.
func BaseURL(m *task.Model) string {
	if m.Provider != task.OpenAI {
		return ""
	}
	return cmp.Or(m.BaseURL, os.Getenv(baseURLEnv), defaultBaseURL)
}

func newOpenAI(p *Pool, t *task.Task, hold Hold) (loop.Model, error) {
	m := &t.Model
	c := openai.Config{Config: p.wire(t, hold), Model: m.Name, Params: m.Params, Thinking: m.Thinking}
	if m.Price != nil {
		c.Price = wire.Price(*m.Price)
	}
	return openai.New(c)
}

// wire is what a task says about its endpoint, whatever its format.
func (p *Pool) wire(t *task.Task, hold Hold) wire.Config {
	m := &t.Model
	c := wire.Config{
		BaseURL: BaseURL(m),
		Timeouts: wire.Timeouts{
			Connect: m.Timeouts.Connect, FirstToken: m.Timeouts.FirstToken,
			Idle: m.Timeouts.Idle, Request: m.Timeouts.Request,
		},
		Retry: wire.RetryPolicy{
			Attempts: m.Retry.Attempts, Initial: m.Retry.Initial,
			Max: m.Retry.Max, RetryAfterMax: m.Retry.RetryAfterMax,
		},
		Limiter: p.limiter(m), Hold: hold,
	}
	switch {
	case len(m.APIKeyCommand) > 0:
		c.APIKey = keyFromCommand(t.Argv(m.APIKeyCommand)...)
	case KeyEnv(m) != "":
		c.APIKey = wire.KeyFromEnv(KeyEnv(m))
	}
	c.Transport = p.transport(m, c.Timeouts)
	return c
}

// limiter is the one of an endpoint. Its rate is that of the first task that
// names the endpoint: a batch has one rate, whoever asks.
func (p *Pool) limiter(m *task.Model) *wire.Limiter {
	l, _ := p.limiters.LoadOrStore(BaseURL(m), wire.NewLimiter(wire.Rate(m.Rate)))
	return l.(*wire.Limiter)
}

func (p *Pool) transport(m *task.Model, t wire.Timeouts) http.RoundTripper {
	if p.Transport != nil {
		return p.Transport
	}
	shared, _ := p.transports.LoadOrStore(transportKey{BaseURL(m), m.Timeouts}, wire.NewTransport(t))
	return shared.(*http.Transport)
}

// Close drops idle connections.
func (p *Pool) Close() {
	p.transports.Range(func(_, t any) bool {
		t.(*http.Transport).CloseIdleConnections()
		return true
	})
}
