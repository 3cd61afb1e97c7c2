package openai

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay/transcript"
)

func TestKeys(t *testing.T) {
	const key = "sk-secret-0123456789"
	e := serve(t,
		refuse(500, `{"error":{"message":"key `+key+` is slow"}}`),
		stream(content("your key is sk-sec"), content("ret-0123456789."), tc(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":\"`+key+`\"}"}}`), fin("stop"), done))
	asked := 0
	r := e.ask(t, func(c *Config) {
		c.APIKey = func(context.Context) (string, error) { asked++; return key, nil }
	})
	r.wantStop(t, transcript.StopToolUse, "your key is [redacted].")
	if asked != 2 || e.headers[1].Get("Authorization") != "Bearer "+key {
		t.Errorf("asked %d times, sent %q", asked, e.headers[1].Get("Authorization"))
	}
	var shown strings.Builder
	for _, d := range r.deltas {
		shown.WriteString(d.Text)
		if d.Call != nil {
			shown.Write(d.Call.Arguments)
		}
	}
	if strings.Contains(shown.String(), "secret") {
		t.Errorf("the key is in the deltas: %s", shown.String())
	}
}

func TestKeyThatCannotBeHad(t *testing.T) {
	e := serve(t, good)
	r := e.ask(t, func(c *Config) {
		c.APIKey = func(context.Context) (string, error) { return "", errors.New("no key today") }
	})
	if r.err == nil || r.err.Error() != "no key today" || e.requests() != 0 {
		t.Errorf("err %v, %d requests", r.err, e.requests())
	}
	r = e.ask(t, func(c *Config) { c.APIKey = func(context.Context) (string, error) { return "sk-secret\n", nil } })
	if r.err == nil || strings.Contains(r.err.Error(), "secret") || e.requests() != 0 {
		t.Errorf("a key with a line end: err %v, %d requests", r.err, e.requests())
	}
}

func TestKeySources(t *testing.T) {
	t.Setenv("TURNLOG_TEST_KEY", " k1 ")
	for _, c := range []struct {
		source    func(context.Context) (string, error)
		key, fail string
	}{
		{wire.KeyFromEnv("TURNLOG_TEST_KEY"), "k1", ""},
		{wire.KeyFromEnv("TURNLOG_TEST_NO_KEY"), "", "TURNLOG_TEST_NO_KEY is not set"},
	} {
		key, err := c.source(t.Context())
		if key != c.key || (err == nil) != (c.fail == "") || err != nil && (!strings.Contains(err.Error(), c.fail) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("key %q, err %v; want %q, %q", key, err, c.key, c.fail)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	base := wire.Config{BaseURL: "http://h/v1"}
	for _, c := range []struct {
		config Config
		words  string
	}{
		{Config{Config: wire.Config{BaseURL: "localhost:8080"}, Model: "m"}, "want http://"},
		{Config{Config: wire.Config{BaseURL: ""}, Model: "m"}, "want http://"},
		{Config{Config: wire.Config{BaseURL: "http://h/v1?key=x"}, Model: "m"}, "query"},
		{Config{Config: wire.Config{BaseURL: "http://u:p@h/v1"}, Model: "m"}, "credentials"},
		{Config{Config: base}, "model"},
		{Config{Config: base, Model: "m", Params: []byte(`[]`)}, "want a JSON object"},
		{Config{Config: base, Model: "m", Params: []byte(`{"messages":[]}`)}, `"messages" is written by turnlog`},
		{Config{Config: base, Model: "m", Params: []byte(`{"a":1,"a":2}`)}, "set twice"},
		{Config{Config: base, Model: "m", Params: []byte(`{"a":1} x`)}, "after the JSON object"},
	} {
		if _, err := New(c.config); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.words)
		}
	}
	m, _ := serve(t, good).model(t, nil)
	q := prompt("go")
	q.Params = []byte(`{"stream":false}`)
	if r := collect(m, t.Context(), q); r.err == nil {
		t.Error("a request with stream in its params was sent")
	}
}

// go-openai refuses these itself, by their names, before anything is sent.
func TestModelsThatGoOpenAIRefuses(t *testing.T) {
	for _, id := range []string{"gpt-5", "o3-mini", "gpt-6-astra", "text-davinci-003"} {
		e := serve(t, good)
		m, _ := e.model(t, func(c *Config) { c.Params = []byte(`{"temperature":0.5,"max_tokens":5}`) })
		q := prompt("go")
		q.Model.ID = id
		r := collect(m, t.Context(), q)
		r.wantStop(t, transcript.StopEnd, "ok")
		if !strings.Contains(e.body(0), `"model":"`+id+`","temperature":0.5,"max_tokens":5`) {
			t.Errorf("%s: body %s", id, e.body(0))
		}
	}
}
