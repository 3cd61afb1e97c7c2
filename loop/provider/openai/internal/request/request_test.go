package request

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

// prompt is a request with one user message and a tool.
func prompt(text string) replay.Request {
	return replay.Request{
		Model:    replay.ModelRef{Provider: "openai", ID: "m"},
		System:   "Be brief.",
		Tools:    []transcript.Tool{{Name: "read", Description: "Read a file.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Messages: []transcript.Message{transcript.UserText(text)},
	}
}

// defaults are those of a model m.
var defaults = Defaults{Model: replay.ModelRef{Provider: "openai", ID: "m"}}

// sent gives the body of a request, as it goes out after what h holds.
func sent(t interface {
	Helper()
	Fatalf(string, ...any)
}, q replay.Request, or Defaults, h *History,
) string {
	t.Helper()
	r, err := New(q, or, h)
	if err != nil {
		t.Fatalf("%v", err)
	}
	b, err := io.ReadAll(r.Body())
	if err != nil || int64(len(b)) != r.Size() || !json.Valid(b) {
		t.Fatalf("not JSON, or not of size %d: %s", r.Size(), b)
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
	if diff := cmp.Diff(want, sent(t, q, defaults, new(History))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRequestDefaultsAndBounds(t *testing.T) {
	for name, c := range map[string]struct {
		or     Defaults
		params string
		limit  int64
		model  string
		want   string
	}{
		"defaults":                 {Defaults{Params: Params{{Name: "top_p", Value: json.RawMessage("1")}}, MaxTokens: 9, Thinking: "low"}, ``, 0, "", `"model":"m","top_p":1,"max_tokens":9,"reasoning_effort":"low","stream":true,"stream_options":{"include_usage":true}`},
		"request wins":             {Defaults{Params: Params{{Name: "top_p", Value: json.RawMessage("1")}}, MaxTokens: 9}, `{"n":1}`, 8, "x", `"model":"x","n":1,"max_tokens":8,"stream":true,"stream_options":{"include_usage":true}`},
		"smaller of two: request":  {Defaults{}, `{"max_tokens":4096,"seed":1}`, 50, "", `"model":"m","max_tokens":50,"seed":1,"stream":true,"stream_options":{"include_usage":true}`},
		"smaller of two: params":   {Defaults{}, `{"max_tokens":40}`, 50, "", `"model":"m","max_tokens":40,"stream":true,"stream_options":{"include_usage":true}`},
		"name of the params":       {Defaults{}, `{"max_completion_tokens":4096}`, 50, "", `"model":"m","max_completion_tokens":50,"stream":true,"stream_options":{"include_usage":true}`},
		"name of the model":        {Defaults{}, ``, 50, "gpt-5-mini", `"model":"gpt-5-mini","max_completion_tokens":50,"stream":true,"stream_options":{"include_usage":true}`},
		"stream options of params": {Defaults{}, `{"stream_options":{}}`, 0, "", `"model":"m","stream_options":{},"stream":true`},
		"effort of params":         {Defaults{Thinking: "high"}, `{"reasoning_effort":"none"}`, 0, "", `"model":"m","reasoning_effort":"none","stream":true,"stream_options":{"include_usage":true}`},
	} {
		c.or.Model = defaults.Model
		got := sent(t, replay.Request{Model: replay.ModelRef{ID: c.model}, Params: json.RawMessage(c.params), MaxTokens: c.limit, Messages: []transcript.Message{transcript.UserText("a")}}, c.or, new(History))
		if want := `{` + c.want + `,"messages":[{"role":"user","content":"a"}]}`; got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// A request in the form that State.Request gives is projected.
func TestRequestIsProjected(t *testing.T) {
	got := sent(t, replay.Request{Messages: []transcript.Message{
		{Role: transcript.System, Content: []transcript.Block{transcript.TextBlock("S")}, ToolsAdded: []transcript.Tool{{Name: "read", Parameters: json.RawMessage(`{}`)}}},
		transcript.UserText("a"),
		{Role: transcript.Assistant, StopReason: transcript.StopError, Content: []transcript.Block{transcript.TextBlock("half")}},
		transcript.UserText("b"),
	}}, defaults, new(History))
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"type":"function","function":{"name":"read","description":"","parameters":{}}}],` +
		`"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"user","content":"b"}]}`
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Whatever happens to the history between two requests — it grows, is cut,
// rewritten, or asked for another model — the body is that of a history that
// sees it for the first time.
func TestCachedBodyEqualsFreshBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := new(History)
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
			if want, got := sent(t, q, defaults, new(History)), sent(t, q, defaults, h); want != got {
				t.Fatalf("fresh %s\ncached %s", want, got)
			}
			for _, id := range []string{"a", "b"} {
				has := slices.ContainsFunc(q.Messages, func(m transcript.Message) bool {
					return slices.ContainsFunc(m.Calls(), func(c *transcript.Call) bool { return c.ID == id })
				})
				if q.System != "" && h.HasCall(id) != has {
					t.Fatalf("call %s: %v, want %v", id, h.HasCall(id), has)
				}
			}
		}
	})
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
