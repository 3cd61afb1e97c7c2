package openai

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/answer"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/request"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay"
)

// api is the name of this format in transcripts, as pi has it.
const api = "openai-completions"

// Config describes a model. BaseURL (up to and without /chat/completions) and
// Model are required; every other zero value is a default.
type Config struct {
	wire.Config

	Model    string // asked for when a request names no model
	Provider string // written into messages when a request names no provider; "" is "openai"

	// Params are members of the request body, passed as they are, in their
	// order. They stand in for a request that brings none of its own, as do
	// MaxTokens and Thinking. What turnlog writes itself (model, messages,
	// tools, stream) is refused here.
	Params    json.RawMessage
	MaxTokens int64
	Thinking  string
	Price     wire.Price

	NewID func() string // ids of calls that come without one; nil draws them
}

// Model asks one endpoint. It is safe for concurrent use; the encoded history
// is kept for one conversation at a time, so each task should have its own.
type Model struct {
	c        Config
	endpoint *wire.Endpoint
	defaults request.Defaults
	history  request.Cache
}

var _ loop.Model = (*Model)(nil)

// New checks c and returns the model. It does not contact the endpoint.
func New(c Config) (*Model, error) {
	endpoint, err := wire.New("/chat/completions", c.Config)
	if err != nil {
		return nil, err
	}
	if c.Model == "" {
		return nil, errors.New("model: no name given")
	}
	p, err := request.ParseParams(c.Params)
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	if c.NewID == nil {
		c.NewID = newCallID
	}
	return &Model{c: c, endpoint: endpoint, defaults: request.Defaults{
		Model:  replay.ModelRef{Provider: cmp.Or(c.Provider, "openai"), ID: c.Model},
		Params: p, MaxTokens: c.MaxTokens, Thinking: c.Thinking,
	}}, nil
}

// Stream sends r, again if need be, and yields what comes back, see
// [wire.Endpoint.Stream]. A request that was not projected yet is. A yielded
// error means that r could not be sent: wrong params, no key.
func (m *Model) Stream(ctx context.Context, r replay.Request) iter.Seq2[loop.Delta, error] {
	return func(yield func(loop.Delta, error) bool) {
		h := m.history.Take()
		defer m.history.Put(h) // not before the answer was judged by it
		q, err := request.New(r, m.defaults, h)
		if err != nil {
			yield(loop.Delta{}, fmt.Errorf("request: %w", err))
			return
		}
		begin := func(key wire.Secret) wire.Answer {
			return answer.New(answer.Asked{
				Model: q.Model.ID, Tools: q.Tools, MaxTokens: q.MaxTokens, Secret: key,
				CallKnown: h.HasCall, ResponseKnown: h.HasResponse, NewID: m.c.NewID, Cost: m.c.Price.Cost,
			})
		}
		m.endpoint.Stream(ctx, &wire.Request{API: api, Model: q.Model, Size: q.Size(), Body: q.Body, Answer: begin}, yield)
	}
}

// newCallID makes an id that no other call has: 96 random bits.
func newCallID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return fmt.Sprintf("call_%x", b)
}
