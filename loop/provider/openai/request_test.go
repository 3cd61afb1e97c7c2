package openai

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// sent gives the body of a request that m would send now.
func sent(t testing.TB, m *Model, q replay.Request) string {
	t.Helper()
	h := m.history.take()
	r, err := m.newRequest(q, h)
	m.history.put(h)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.body())
	if err != nil || int64(len(b)) != r.size() {
		t.Fatalf("%d bytes, size says %d, %v", len(b), r.size(), err)
	}
	if !json.Valid(b) {
		t.Fatalf("not JSON: %s", b)
	}
	return string(b)
}

func assistant(blocks ...transcript.Block) transcript.Message {
	return transcript.Message{Role: transcript.Assistant, Provider: "openai", Model: "m", Content: blocks}
}

func callBlock(id, name, arguments string) transcript.Block {
	return transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: id, Name: name, Arguments: json.RawMessage(arguments)}}
}

func toolResult(id string, blocks ...transcript.Block) transcript.Message {
	return transcript.Message{Role: transcript.ToolResult, ToolCallID: id, Content: blocks}
}

func image(data string) transcript.Block {
	return transcript.Block{Type: transcript.BlockImage, MimeType: "image/png", Data: data}
}

func TestRequestBody(t *testing.T) {
	text := transcript.TextBlock
	q := replay.Request{
		Model:     replay.ModelRef{Provider: "openai", ID: "m"},
		Thinking:  "high",
		Params:    json.RawMessage(`{"temperature": 0, "seed":7,"stop":["<a>"]}`),
		MaxTokens: 100,
		System:    "Be <brief> & kind.",
		Tools:     []transcript.Tool{{Name: "read", Description: "Read.", Parameters: json.RawMessage(`{ "type":"object", "b":1, "a":1.0 }`)}, {Name: "now"}},
		Messages: []transcript.Message{
			transcript.UserText("hi\u2028"),
			{Role: transcript.User, Content: []transcript.Block{text("look"), image("AAAA")}},
			assistant(transcript.Block{Type: transcript.BlockThinking, Text: "hm", Signature: "reasoning"}, callBlock("a", "read", `{"p":2512292042121000001}`), callBlock("b", "now", ``)),
			toolResult("a", text("x"), text("y")),
			toolResult("b", image("BBBB"), image("CCCC")),
			assistant(transcript.Block{Type: transcript.BlockThinking, Text: "only thinking", Signature: "reasoning"}),
			{Role: transcript.Assistant, Provider: "openai", Model: "older", Content: []transcript.Block{{Type: transcript.BlockThinking, Text: "foreign", Signature: "reasoning"}, text("so"), text(" far")}},
			toolResult("z"),
			toolResult("z2", image("DDDD")),
		},
	}
	want := `{"model":"m","temperature":0,"seed":7,"stop":["<a>"],"max_tokens":100,"reasoning_effort":"high","stream":true,"stream_options":{"include_usage":true},` +
		`"tools":[{"type":"function","function":{"name":"read","description":"Read.","parameters":{ "type":"object", "b":1, "a":1.0 }}},` +
		`{"type":"function","function":{"name":"now","description":"","parameters":{"type":"object","properties":{}}}}],` +
		`"messages":[{"role":"system","content":"Be <brief> & kind."},{"role":"user","content":"hi` + "\u2028" + `"},` +
		`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},` +
		`{"role":"assistant","content":null,"reasoning":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"p\":2512292042121000001}"}},` +
		`{"id":"b","type":"function","function":{"name":"now","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"a","content":"x\ny"},{"role":"tool","tool_call_id":"b","content":"(see attached image)"},` +
		`{"role":"user","content":[{"type":"text","text":"Images of the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,BBBB"}},{"type":"image_url","image_url":{"url":"data:image/png;base64,CCCC"}}]},` +
		`{"role":"assistant","content":"so far"},{"role":"tool","tool_call_id":"z","content":""},{"role":"tool","tool_call_id":"z2","content":"(see attached image)"},` +
		`{"role":"user","content":[{"type":"text","text":"Images of the tool results above:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,DDDD"}}]}]}`
	m, _ := (&endpoint{}).model(t, nil)
	if diff := cmp.Diff(want, sent(t, m, q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRequestDefaultsAndBounds(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		params string
		limit  int64
		model  string
		want   string
	}{
		"defaults":                 {Config{Params: []byte(`{"top_p":1}`), MaxTokens: 9, Thinking: "low"}, ``, 0, "", `"model":"m","top_p":1,"max_tokens":9,"reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}`},
		"request wins":             {Config{Params: []byte(`{"top_p":1}`), MaxTokens: 9}, `{"n":1}`, 8, "x", `"model":"x","n":1,"max_tokens":8,"stream":true,"stream_options":{"include_usage":true}`},
		"smaller of two: request":  {Config{}, `{"max_tokens":4096,"seed":1}`, 50, "", `"model":"m","max_tokens":50,"seed":1,"stream":true,"stream_options":{"include_usage":true}`},
		"smaller of two: params":   {Config{}, `{"max_tokens":40}`, 50, "", `"model":"m","max_tokens":40,"stream":true,"stream_options":{"include_usage":true}`},
		"name of the params":       {Config{}, `{"max_completion_tokens":4096}`, 50, "", `"model":"m","max_completion_tokens":50,"stream":true,"stream_options":{"include_usage":true}`},
		"name of the model":        {Config{}, ``, 50, "gpt-5-mini", `"model":"gpt-5-mini","max_completion_tokens":50,"stream":true,"stream_options":{"include_usage":true}`},
		"stream options of params": {Config{}, `{"stream_options":{}}`, 0, "", `"model":"m","stream_options":{},"stream":true`},
		"effort of params":         {Config{Thinking: "high"}, `{"reasoning_effort":"none"}`, 0, "", `"model":"m","reasoning_effort":"none","stream":true,"stream_options":{"include_usage":true}`},
	} {
		m, _ := (&endpoint{}).model(t, func(d *Config) {
			d.Params, d.MaxTokens, d.Thinking = c.config.Params, c.config.MaxTokens, c.config.Thinking
		})
		got := sent(t, m, replay.Request{Model: replay.ModelRef{ID: c.model}, Params: json.RawMessage(c.params), MaxTokens: c.limit, Messages: []transcript.Message{transcript.UserText("a")}})
		if want := `{` + c.want + `,"messages":[{"role":"user","content":"a"}]}`; got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
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

// A request in the form that State.Request gives is projected.
func TestRequestIsProjected(t *testing.T) {
	m, _ := (&endpoint{}).model(t, nil)
	got := sent(t, m, replay.Request{Messages: []transcript.Message{
		{Role: transcript.System, Content: []transcript.Block{transcript.TextBlock("S")}, ToolsAdded: []transcript.Tool{{Name: "read", Parameters: json.RawMessage(`{}`)}}},
		transcript.UserText("a"),
		{Role: transcript.Assistant, StopReason: transcript.StopError, Content: []transcript.Block{transcript.TextBlock("half")}},
		transcript.UserText("b"),
	}})
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"read","description":"","parameters":{}}}],` +
		`"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"user","content":"b"}]}`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Whatever happens to the history between two requests — it grows, is cut,
// rewritten, or asked for another model — the body is that of a model that
// sees it for the first time.
func TestCachedBodyEqualsFreshBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := New(Config{BaseURL: "http://h", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		var ms []transcript.Message
		for range rapid.IntRange(1, 12).Draw(t, "requests") {
			switch rapid.IntRange(0, 9).Draw(t, "change") {
			case 0:
				ms = slices.Clone(ms[:rapid.IntRange(0, len(ms)).Draw(t, "cut")])
			case 1:
				if len(ms) > 0 { // a view in which one message reads differently
					i := rapid.IntRange(0, len(ms)-1).Draw(t, "at")
					ms = slices.Clone(ms)
					ms[i].Content = append(slices.Clone(ms[i].Content), transcript.TextBlock("edited"))
				}
			case 2:
				ms = deepCopy(ms)
			default:
				for range rapid.IntRange(1, 3).Draw(t, "grow") {
					ms = append(ms, drawMessage(t))
				}
			}
			q := replay.Request{Model: replay.ModelRef{Provider: "openai", ID: rapid.SampledFrom([]string{"m", "m", "m", "n"}).Draw(t, "model")}, System: rapid.SampledFrom([]string{"", "s"}).Draw(t, "system"), Messages: ms}
			fresh, err := New(Config{BaseURL: "http://h", Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			if want, got := bodyOf(t, fresh, q), bodyOf(t, m, q); want != got {
				t.Fatalf("fresh %s\ncached %s", want, got)
			}
			h := m.history.h
			for _, id := range []string{"a", "b"} {
				has := slices.ContainsFunc(q.Messages, func(m transcript.Message) bool {
					return slices.ContainsFunc(m.Calls(), func(c *transcript.Call) bool { return c.ID == id })
				})
				if q.System != "" && h.hasCall(id) != has {
					t.Fatalf("call %s: %v, want %v", id, h.hasCall(id), has)
				}
			}
		}
	})
}

func bodyOf(t *rapid.T, m *Model, q replay.Request) string {
	h := m.history.take()
	r, err := m.newRequest(q, h)
	m.history.put(h)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(r.body())
	if !json.Valid(b) || int64(len(b)) != r.size() {
		t.Fatalf("not JSON or wrong size: %s", b)
	}
	return string(b)
}

func drawMessage(t *rapid.T) transcript.Message {
	text := transcript.TextBlock(rapid.StringMatching(`[a-c"]{0,4}`).Draw(t, "text"))
	id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id")
	switch rapid.IntRange(0, 4).Draw(t, "role") {
	case 0:
		return transcript.Message{Role: transcript.User, Content: []transcript.Block{text}}
	case 1:
		return assistant(text, callBlock(id, "read", `{"p":1}`))
	case 2:
		return assistant(transcript.Block{Type: transcript.BlockThinking, Text: "hm", Signature: "reasoning"}, text)
	case 3:
		return toolResult(id, text)
	}
	return toolResult(id, text, image("AA"))
}

func deepCopy(ms []transcript.Message) []transcript.Message {
	ms = slices.Clone(ms)
	for i := range ms {
		ms[i].Content = slices.Clone(ms[i].Content)
		for j := range ms[i].Content {
			b := &ms[i].Content[j]
			b.Text = strings.Clone(b.Text)
			if b.Call != nil {
				c := *b.Call
				c.Arguments = slices.Clone(c.Arguments)
				b.Call = &c
			}
		}
	}
	return ms
}

func TestUsage(t *testing.T) {
	for in, want := range map[string]transcript.Usage{
		`null`: {},
		`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":5}}`: {Input: 30, Output: 20, CacheRead: 60, CacheWrite: 10, TotalTokens: 120, Reasoning: 5},
		`{"prompt_tokens":100,"completion_tokens":20,"prompt_cache_hit_tokens":60}`:                                                                                            {Input: 40, Output: 20, CacheRead: 60, TotalTokens: 120},
		`{"prompt_tokens":100,"completion_tokens":20,"cached_tokens":60}`:                                                                                                      {Input: 40, Output: 20, CacheRead: 60, TotalTokens: 120},
		`{"prompt_tokens":"7","completion_tokens":2.9,"prompt_tokens_details":null}`:                                                                                           {Input: 7, Output: 2, TotalTokens: 9},
		`{"prompt_tokens":-7,"completion_tokens":9223372036854775807,"total_tokens":"x"}`:                                                                                      {Output: maxTokens, TotalTokens: maxTokens},
		`{"prompt_tokens":5,"completion_tokens":{},"prompt_tokens_details":{"cached_tokens":9}}`:                                                                               {CacheRead: 9, TotalTokens: 9},
	} {
		c, err := decodeChunk([]byte(`{"usage":` + in + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, *c.Usage.usage(Price{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
	u := reportedUsage{PromptTokens: looseInt{n: 3_000_000}, CompletionTokens: looseInt{n: 500_000}, CacheHit: looseInt{n: 1_000_000, set: true}}
	want := transcript.Cost{Input: 1, Output: 0.75, CacheRead: 0.05, Total: 1.8}
	if got := u.usage(Price{Input: 0.5, Output: 1.5, CacheRead: 0.05, CacheWrite: 9}).Cost; !cmp.Equal(got, want) {
		t.Errorf("cost %+v, want %+v", got, want)
	}
}
