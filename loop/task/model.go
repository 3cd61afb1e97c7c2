package task

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
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
var providerKeys = map[string]string{
	"base_url":        OpenAI,
	"api_key_env":     OpenAI,
	"api_key_command": OpenAI,
	"timeouts":        OpenAI,
	"retry":           OpenAI,
	"rate":            OpenAI,
	"responses":       Scripted,
	"from":            Recorded,
}

func modelTable() object[Model] {
	return object[Model]{
		name: "a model",
		keys: []key[Model]{
			to("provider", oneOf(OpenAI, Scripted, Recorded), func(m *Model) *string { return &m.Provider }, "Who answers: an OpenAI-compatible endpoint, a script in this file, or an earlier transcript.").must(),
			to("name", filled(), func(m *Model) *string { return &m.Name }, "What the endpoint calls the model."),
			to("base_url", filled(), func(m *Model) *string { return &m.BaseURL }, "Address of the endpoint, up to and with /v1."),
			to("api_key_env", envName(), func(m *Model) *string { return &m.APIKeyEnv }, "Name of the environment variable with the key."),
			to("api_key_command", nonEmpty(list(text())), func(m *Model) *[]string { return &m.APIKeyCommand }, "Program that prints the key, asked before each request; for keys that expire."),
			to("thinking", oneOf("off", "minimal", "low", "medium", "high", "xhigh", "max"), func(m *Model) *string { return &m.Thinking }, "How much the model thinks, as far as the endpoint knows it."),
			to("params", objectJSON(), func(m *Model) *json.RawMessage { return &m.Params }, "Passed to the request as they are."),
			to("timeouts", timeoutsTable().value(Timeouts{}), func(m *Model) *Timeouts { return &m.Timeouts }, "Clocks of one request."),
			to("retry", retryTable().value(Retry{}), func(m *Model) *Retry { return &m.Retry }, "How requests are tried again after 429, 5xx and network failures."),
			to("rate", rateTable().value(Rate{}), func(m *Model) *Rate { return &m.Rate }, "Bounds shared by the whole batch."),
			to("price", pointer(priceTable().value(Price{})), func(m *Model) **Price { return &m.Price }, "USD per million tokens; a cost limit needs it."),
			to("responses", list(response()), func(m *Model) *[]json.RawMessage { return &m.Responses }, "Answers of a scripted model, one per request."),
			to("from", filled(), func(m *Model) *string { return &m.From }, "Transcript whose answers a recorded model gives."),
		},
		check: checkModel,
	}
}

func timeoutsTable() object[Timeouts] {
	return object[Timeouts]{
		name: "timeouts",
		keys: []key[Timeouts]{
			to("connect", duration(), func(t *Timeouts) *time.Duration { return &t.Connect }, "Until the connection stands."),
			to("first_token", duration(), func(t *Timeouts) *time.Duration { return &t.FirstToken }, "Until the first part of the answer."),
			to("idle", duration(), func(t *Timeouts) *time.Duration { return &t.Idle }, "Between two parts of the answer."),
			to("request", duration(), func(t *Timeouts) *time.Duration { return &t.Request }, "For the whole answer."),
		},
	}
}

func retryTable() object[Retry] {
	return object[Retry]{
		name: "retry",
		keys: []key[Retry]{
			to("attempts", integer(1, 100), func(r *Retry) *int { return &r.Attempts }, "Requests in all; 1 is no retry."),
			to("initial", duration(), func(r *Retry) *time.Duration { return &r.Initial }, "First wait; it doubles."),
			to("max", duration(), func(r *Retry) *time.Duration { return &r.Max }, "Longest wait."),
			to("retry_after_max", duration(), func(r *Retry) *time.Duration { return &r.RetryAfterMax }, "Longest wait that the endpoint may ask for."),
		},
	}
}

func rateTable() object[Rate] {
	return object[Rate]{
		name: "rate",
		keys: []key[Rate]{
			to("concurrent", integer(1, 10_000), func(r *Rate) *int { return &r.Concurrent }, "Requests at once."),
			to("requests_per_minute", integer(1, 1_000_000), func(r *Rate) *int { return &r.RequestsPerMinute }, "Requests started per minute."),
		},
	}
}

func priceTable() object[Price] {
	return object[Price]{
		name: "price",
		keys: []key[Price]{
			to("input", number(), func(p *Price) *float64 { return &p.Input }, "Of input tokens.").must(),
			to("output", number(), func(p *Price) *float64 { return &p.Output }, "Of output tokens.").must(),
			to("cache_read", number(), func(p *Price) *float64 { return &p.CacheRead }, "Of input tokens out of the cache."),
			to("cache_write", number(), func(p *Price) *float64 { return &p.CacheWrite }, "Of input tokens put into the cache."),
		},
	}
}

// checkModel reports keys that the provider has no use for, and what it lacks.
func checkModel(d *decoder, n *yaml.Node, m *Model) {
	has := map[string]bool{}
	for _, one := range members(n) {
		has[one.name] = true
		if owner := providerKeys[one.name]; owner != "" && owner != m.Provider {
			d.at(one.key, "", "%s belongs to provider %s, this one is %s", one.name, owner, m.Provider)
		}
	}
	switch {
	case m.Provider == OpenAI && m.Name == "" && !d.scope.lenient:
		d.at(n, "", "a model of provider openai needs a name")
	case m.Provider == Scripted && !has["responses"]:
		d.at(n, "", "a scripted model needs responses")
	case m.Provider == Recorded && m.From == "" && !d.scope.lenient:
		d.at(n, "", "a recorded model needs from, the transcript with its answers")
	}
	if m.APIKeyEnv != "" && len(m.APIKeyCommand) > 0 {
		d.at(n, "", "api_key_env and api_key_command: one of them")
	}
	if m.BaseURL != "" && !isHTTP(m.BaseURL) {
		d.at(n, "", "base_url: want http:// or https:// and a host, without a password")
	}
}

// isHTTP says whether s is a full address without a password in it.
func isHTTP(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil
}

// model is a model in place or the name of one of models.
func model() value[Model] {
	return value[Model]{
		schema: &schemaNode{AnyOf: []*schemaNode{{Type: "string", MinLength: 1}, ref("model")}},
		decode: func(d *decoder, n *yaml.Node) (Model, bool) {
			m, ok := d.chosenModel(n)
			d.used = m
			return m, ok
		},
	}
}

// chosenModel is the one that the caller wants, else the one of the file.
func (d *decoder) chosenModel(n *yaml.Node) (Model, bool) {
	if d.models[d.opts.Model] != nil {
		return d.namedModel(n, d.opts.Model)
	}
	m, ok := d.writtenModel(n)
	if !ok || d.opts.Model == "" {
		return m, ok
	}
	if m.Provider != OpenAI {
		d.at(n, suggest(d.opts.Model, slices.Sorted(maps.Keys(d.models)), "models"),
			"there is no model %s, and provider %s has no models to choose from", quoted(d.opts.Model), m.Provider)
		return m, false
	}
	m.Name = d.opts.Model
	return m, true
}

// writtenModel reads the model that the file says.
func (d *decoder) writtenModel(n *yaml.Node) (Model, bool) {
	if n.Kind == yaml.MappingNode {
		return d.model(n, n, "")
	}
	name, ok := filled().decode(d, n)
	if !ok {
		return Model{}, false
	}
	return d.namedModel(n, name)
}

// namedModel reads one of models; n is where its name stands.
func (d *decoder) namedModel(n *yaml.Node, name string) (Model, bool) {
	m, ok := d.models[name]
	if !ok {
		hint := "write model: { provider: …, name: … }, or define it under models"
		if len(d.models) > 0 {
			hint = suggest(name, slices.Sorted(maps.Keys(d.models)), "models")
		}
		d.at(n, hint, "no model is called %s", quoted(name))
		return Model{}, false
	}
	return d.model(n, m, name)
}

// model reads a model that the task uses, so its provider must be there.
func (d *decoder) model(at, n *yaml.Node, label string) (Model, bool) {
	m := Model{Label: label, Place: Place{at.Line, at.Column}}
	if !d.tables.model.decode(d, n, &m) {
		return m, false
	}
	if !slices.Contains(d.opts.Providers, m.Provider) {
		d.at(at, "there are: "+strings.Join(d.opts.Providers, ", "), "the provider %s is not available", m.Provider)
		return m, false
	}
	return m, true
}

// checkModels reads the models that the task does not use, so that a mistake
// in them shows now. Their environment may be missing.
func (d *decoder) checkModels(used string) {
	lenient := d.scope.lenient
	d.scope.lenient = true
	for _, name := range slices.Sorted(maps.Keys(d.models)) {
		if name != used {
			d.tables.model.decode(d, d.models[name], &Model{})
		}
	}
	d.scope.lenient = lenient
}
