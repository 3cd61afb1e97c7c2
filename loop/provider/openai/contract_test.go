package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	goopenai "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// beyond are the members of a body that we send and go-openai does not know,
// each with a test that sends it: params go out as the task names them.
var beyond = []string{"top_k"}

// keepsContract reports whether a body decodes into go-openai's request, no
// member unknown, and encodes back to the same JSON value. Its types cannot say
// everything that servers need to be told, and what they leave out is not
// compared:
//
//   - temperature and other params that are 0: 0 is a value there;
//   - a content that is "" or null, of results and of answers that only call:
//     servers insist on the key;
//   - a name or a description that is "": the history says so;
//   - reasoning, which is what some servers call reasoning_content;
//   - the members of [beyond].
func keepsContract(body []byte) error {
	ours, err := object(body)
	if err != nil {
		return err
	}
	for _, name := range beyond {
		delete(ours, name)
	}
	known, err := json.Marshal(ours)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(known))
	dec.DisallowUnknownFields()
	var q goopenai.ChatCompletionRequest
	if err := dec.Decode(&q); err != nil {
		return fmt.Errorf("%w: %s", err, body)
	}
	encoded, err := json.Marshal(q)
	if err != nil {
		return err
	}
	theirs, err := object(encoded)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(said(ours), said(theirs)); diff != "" {
		return fmt.Errorf("(-sent +as go-openai has it):\n%s\n%s", diff, body)
	}
	return nil
}

func object(b []byte) (o map[string]any, err error) { return o, json.Unmarshal(b, &o) }

// said is the body without what go-openai cannot say.
func said(body map[string]any) map[string]any {
	drop := func(o map[string]any, name string, empty ...any) {
		for _, e := range empty {
			if v, ok := o[name]; ok && v == e {
				delete(o, name)
			}
		}
	}
	for name := range body {
		drop(body, name, 0.0)
	}
	for _, m := range list(body["messages"]) {
		drop(m, "content", "", nil)
		delete(m, "reasoning")
		for _, c := range list(m["tool_calls"]) {
			drop(c["function"].(map[string]any), "name", "")
		}
	}
	for _, t := range list(body["tools"]) {
		drop(t["function"].(map[string]any), "description", "")
	}
	return body
}

func list(v any) (objects []map[string]any) {
	values, _ := v.([]any)
	for _, v := range values {
		objects = append(objects, v.(map[string]any))
	}
	return objects
}

// The contract is held by every body that a test of this package sends, in
// [endpoint.ServeHTTP] and [canned.RoundTrip]. These are bodies of all kinds of
// messages.
func TestContract(t *testing.T) {
	e := serve(t, good)
	text, image := transcript.TextBlock, transcript.Block{Type: transcript.BlockImage, MimeType: "image/png", Data: "AAAA"}
	calling := func(id, name, arguments string) transcript.Block {
		return transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: id, Name: name, Arguments: json.RawMessage(arguments)}}
	}
	answered := func(blocks ...transcript.Block) transcript.Message {
		return transcript.Message{Role: transcript.Assistant, Provider: "openai", Model: "m", Content: blocks}
	}
	result := func(id string, blocks ...transcript.Block) transcript.Message {
		return transcript.Message{Role: transcript.ToolResult, ToolCallID: id, Content: blocks}
	}
	think := transcript.Block{Type: transcript.BlockThinking, Text: "hm", Signature: "reasoning_content"}
	all := []transcript.Message{
		transcript.UserText("hi <&> \u2028"),
		{Role: transcript.User, Content: []transcript.Block{text("look"), image, text("")}},
		answered(think, calling("a", "read", `{"p":1e2,"q":"<"}`), calling("b", "", ``)),
		result("a", text("x"), text("y")),
		result("b", image, image),
		answered(think),
		answered(text("so"), text(" far")),
		result("z"),
		{Role: transcript.System, Content: []transcript.Block{text("Now be long.")}},
		result("z2", image),
	}
	rapid.Check(t, func(rt *rapid.T) {
		m, _ := e.model(t, nil)
		q := prompt("go")
		q.Messages = rapid.SliceOf(rapid.SampledFrom(all)).Draw(rt, "messages")
		q.Params = json.RawMessage(rapid.SampledFrom([]string{
			``, `{}`, `{"temperature":0,"top_p":0.9,"seed":7,"stop":["<a>"],"n":1}`, `{"max_completion_tokens":99,"stream_options":{}}`,
			`{"top_k":40,"logit_bias":{"1":-3},"user":"u"}`, `{"tool_choice":{"type":"function","function":{"name":"read"}},"response_format":{"type":"json_object"}}`,
		}).Draw(rt, "params"))
		q.MaxTokens = rapid.Int64Range(0, 100).Draw(rt, "max tokens")
		q.Thinking = rapid.SampledFrom([]string{"", "off", "high"}).Draw(rt, "thinking")
		if rapid.Bool().Draw(rt, "bare") {
			q.System, q.Tools = "", nil
		}
		r := collect(m, t.Context(), q)
		r.wantStop(t, transcript.StopEnd, "ok")
	})
	m, _ := e.model(t, nil)
	r := collect(m, t.Context(), replay.Request{Messages: all})
	r.wantStop(t, transcript.StopEnd, "ok")
}

func TestContractCatches(t *testing.T) {
	for _, body := range []string{
		`{"model":"m","messages":[],"stream":true,"top_knob":1}`,
		`{"model":"m","messages":[{"role":"user","content":"a","colour":"red"}],"stream":true}`,
		`{"model":"m","messages":[{"role":"user","content":7}],"stream":true}`,
		`{"model":"m","messages":[],"stream":true,"max_tokens":"5"}`,
	} {
		if err := keepsContract([]byte(body)); err == nil {
			t.Errorf("not caught: %s", body)
		}
	}
}
