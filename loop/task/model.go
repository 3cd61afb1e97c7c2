package task

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// Model is who answers.
type Model struct {
	Label    string `json:"label,omitempty"` // its name in models; "" if it stands in place
	Provider string `json:"provider"`        // openai, scripted or recorded
	Name     string `json:"name,omitempty"`  // what the endpoint calls it

	// Of an endpoint. Nothing here is a secret; keys are found by name.
	BaseURL       string          `json:"base_url,omitempty"`
	APIKeyEnv     string          `json:"api_key_env,omitempty"`
	APIKeyCommand []string        `json:"api_key_command,omitempty"` // prints the key; asked before each request
	Thinking      string          `json:"thinking,omitempty"`        // off minimal low medium high xhigh max
	Params        json.RawMessage `json:"params,omitempty"`          // a JSON object, passed to the request as it is
	Timeouts      Timeouts        `json:"-"`
	Retry         Retry           `json:"-"`
	Rate          Rate            `json:"-"`
	Price         *Price          `json:"price,omitempty"` // nil: unknown

	Responses []json.RawMessage `json:"responses,omitempty"` // of a scripted model, in order
	From      string            `json:"from,omitempty"`      // of a recorded model: a transcript, relative to the task's Dir

	Place Place `json:"-"`
}

// Timeouts are clocks of one request; 0 is the provider's default.
type Timeouts struct {
	Connect    time.Duration // until the connection stands
	FirstToken time.Duration // until the first part of the answer
	Idle       time.Duration // between two parts of the answer
	Request    time.Duration // of all of it
}

// Retry says how a request is tried again; zero fields are the provider's
// defaults.
type Retry struct {
	Attempts      int // requests in all, so 1 is no retry
	Initial, Max  time.Duration
	RetryAfterMax time.Duration // a longer wait that the endpoint asks for ends the run
}

// Rate bounds what the whole batch asks of one endpoint; 0 is no bound.
type Rate struct {
	Concurrent        int
	RequestsPerMinute int
}

// Price is in USD per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// The providers.
const (
	OpenAI   = "openai"
	Scripted = "scripted"
	Recorded = "recorded"
)

// providerKeys says which keys of a model need which provider. Keys that are
// not here go with all of them.
func providerKeys() map[string]string {
	return map[string]string{
		"base_url": OpenAI, "api_key_env": OpenAI, "api_key_command": OpenAI, "timeouts": OpenAI, "retry": OpenAI, "rate": OpenAI,
		"responses": Scripted, "from": Recorded,
	}
}

// modelMapping is a model in place.
func (r *reader) modelMapping() table.Value[Model] {
	return table.Mapping("a model", Model{}, modelKeys).Then(r.checkModel)
}

func modelKeys(k *table.Keys, m *Model) {
	table.To(k, "provider", table.OneOf(OpenAI, Scripted, Recorded), &m.Provider, "Who answers: an OpenAI-compatible endpoint, a script in this file, or an earlier transcript.").Must()
	table.To(k, "name", table.Filled(), &m.Name, "What the endpoint calls the model.")
	table.To(k, "base_url", table.Filled(), &m.BaseURL, "Address of the endpoint, up to and with /v1.")
	table.To(k, "api_key_env", table.EnvName(), &m.APIKeyEnv, "Name of the environment variable with the key.")
	table.To(k, "api_key_command", argv(), &m.APIKeyCommand, "Program that prints the key, asked before each request; for keys that expire.")
	table.To(k, "thinking", table.OneOf("off", "minimal", "low", "medium", "high", "xhigh", "max"), &m.Thinking, "How much the model thinks, as far as the endpoint knows it.")
	table.To(k, "params", table.JSONObject(), &m.Params, "Passed to the request as they are.")
	table.To(k, "timeouts", table.Mapping("timeouts", Timeouts{}, timeoutKeys), &m.Timeouts, "Clocks of one request.")
	table.To(k, "retry", table.Mapping("retry", Retry{}, retryKeys), &m.Retry, "How requests are tried again after 429, 5xx and network failures.")
	table.To(k, "rate", table.Mapping("rate", Rate{}, rateKeys), &m.Rate, "Bounds shared by the whole batch.")
	table.To(k, "price", table.Optional(table.Mapping("price", Price{}, priceKeys)), &m.Price, "USD per million tokens; a cost limit needs it.")
	table.To(k, "responses", table.List(response()), &m.Responses, "Answers of a scripted model, one per request.")
	table.To(k, "from", table.Filled(), &m.From, "Transcript whose answers a recorded model gives.")
}

func timeoutKeys(k *table.Keys, t *Timeouts) {
	table.To(k, "connect", table.Duration(), &t.Connect, "Until the connection stands.")
	table.To(k, "first_token", table.Duration(), &t.FirstToken, "Until the first part of the answer.")
	table.To(k, "idle", table.Duration(), &t.Idle, "Between two parts of the answer.")
	table.To(k, "request", table.Duration(), &t.Request, "For the whole answer.")
}

func retryKeys(k *table.Keys, r *Retry) {
	table.To(k, "attempts", table.Integer(1, 100), &r.Attempts, "Requests in all; 1 is no retry.")
	table.To(k, "initial", table.Duration(), &r.Initial, "First wait; it doubles.")
	table.To(k, "max", table.Duration(), &r.Max, "Longest wait.")
	table.To(k, "retry_after_max", table.Duration(), &r.RetryAfterMax, "Longest wait that the endpoint may ask for.")
}

func rateKeys(k *table.Keys, r *Rate) {
	table.To(k, "concurrent", table.Integer(1, 10_000), &r.Concurrent, "Requests at once.")
	table.To(k, "requests_per_minute", table.Integer(1, 1_000_000), &r.RequestsPerMinute, "Requests started per minute.")
}

func priceKeys(k *table.Keys, p *Price) {
	table.To(k, "input", table.NotNegative(), &p.Input, "Of input tokens.").Must()
	table.To(k, "output", table.NotNegative(), &p.Output, "Of output tokens.").Must()
	table.To(k, "cache_read", table.NotNegative(), &p.CacheRead, "Of input tokens out of the cache.")
	table.To(k, "cache_write", table.NotNegative(), &p.CacheWrite, "Of input tokens put into the cache.")
}

// checkModel reports keys that the provider has no use for, and what it lacks.
func (r *reader) checkModel(_ *table.Decoder, n *table.Node, m *Model) {
	owners := providerKeys()
	for _, one := range n.Members() {
		if owner := owners[one.Name]; owner != "" && owner != m.Provider {
			r.At(one.Key, "", "%s belongs to provider %s, this one is %s", one.Name, owner, m.Provider)
		}
	}
	switch {
	case m.Provider == OpenAI && m.Name == "" && !r.scope.lenient:
		r.At(n, "", "a model of provider openai needs a name")
	case m.Provider == Scripted && m.Responses == nil:
		r.At(n, "", "a scripted model needs responses")
	case m.Provider == Recorded && m.From == "" && !r.scope.lenient:
		r.At(n, "", "a recorded model needs from, the transcript with its answers")
	}
	if m.APIKeyEnv != "" && len(m.APIKeyCommand) > 0 {
		r.At(n, "", "api_key_env and api_key_command: one of them")
	}
	if m.BaseURL != "" && !isHTTP(m.BaseURL) {
		r.At(n, "", "base_url: want http:// or https:// and a host, without a password")
	}
}

// isHTTP says whether s is a full address without a password in it.
func isHTTP(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// findModels notes where the named models are.
func (r *reader) findModels(n *table.Node) {
	r.models = map[string]*table.Node{}
	if n == nil {
		return
	}
	if !n.IsMapping() {
		r.At(n, "", "models is a mapping of names to models, found %s", n.Describe())
	}
	for _, m := range n.Members() {
		r.models[m.Name] = m.Value
	}
}

// model is a model in place or the name of one of models, if the caller does
// not want another one.
func (r *reader) model() table.Value[Model] {
	schema := func() *table.Schema {
		return &table.Schema{AnyOf: []*table.Schema{table.Filled().Schema(), table.Ref("model")()}}
	}
	return table.Value[Model]{Schema: schema, Decode: r.usedModel}
}

// usedModel reads the model that the task uses, so its provider must be there.
func (r *reader) usedModel(_ *table.Decoder, n *table.Node) (m Model, ok bool) {
	label, definition, ok := r.findModel(n)
	if !ok {
		return m, false
	}
	m, ok = r.modelMapping().Decode(r.Decoder, definition)
	m.Label, m.Place = label, place(n)
	r.Model = m // even if something in it is wrong, so that its other faults show now
	wanted := r.opts.Model
	switch {
	case !ok:
	case !slices.Contains(r.opts.Providers, m.Provider):
		r.At(n, "there are: "+strings.Join(r.opts.Providers, ", "), "the provider %s is not available", m.Provider)
		return m, false
	case wanted == "" || wanted == label:
	case m.Provider != OpenAI:
		r.At(n, table.Suggest(wanted, r.modelNames(), "models"),
			"there is no model %s, and provider %s has no models to choose from", table.Quote(wanted), m.Provider)
		return m, false
	default:
		m.Name = wanted
	}
	return m, ok
}

// findModel gives the model that the caller wants, else the one of the file,
// with its name in models.
func (r *reader) findModel(n *table.Node) (label string, definition *table.Node, ok bool) {
	if m := r.models[r.opts.Model]; m != nil {
		return r.opts.Model, m, true
	}
	if n.IsMapping() {
		return "", n, true
	}
	label, ok = table.Filled().Decode(r.Decoder, n)
	if m := r.models[label]; !ok || m != nil {
		return label, m, ok
	}
	hint := "write model: { provider: …, name: … }, or define it under models"
	if len(r.models) > 0 {
		hint = table.Suggest(label, r.modelNames(), "models")
	}
	r.At(n, hint, "no model is called %s", table.Quote(label))
	return "", nil, false
}

func (r *reader) modelNames() []string { return slices.Sorted(maps.Keys(r.models)) }

// checkModels reads the models that the task does not use, so that a mistake
// in them shows now. Their environment may be missing.
func (r *reader) checkModels() {
	r.scope.lenient = true
	for _, name := range r.modelNames() {
		if name != r.Model.Label {
			r.modelMapping().Decode(r.Decoder, r.models[name])
		}
	}
	r.scope.lenient = false
}
