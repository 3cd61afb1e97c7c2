package transcript

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMessage(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tt := range []struct {
		name, in string
		want     Message
	}{
		{"content absent", `{"role":"user"}`, Message{Role: User, Form: FormAbsent}},
		{"content null", `{"role":"user","content":null}`, Message{Role: User, Form: FormNull}},
		{"content empty", `{"role":"user","content":""}`, Message{Role: User, Form: FormString}},
		{"content no block", `{"role":"user","content":[]}`, Message{Role: User}},
		{"content an object", `{"role":"user","content":{"a":1}}`, Message{Role: User, Form: FormAbsent, Extra: []Field{{"content", raw(`{"a":1}`)}}}},
		{"blocks", `{"role":"assistant","content":[{"type":"text","text":"a","textSignature":"s","n":1},{"thinkingSignature":"t","thinking":"b","type":"thinking"},{"type":"image","data":"d","mimeType":"m"},{"type":"new","text":"x"},"bare"]}`, Message{
			Role: Assistant,
			Content: []Block{
				{Type: "text", Text: "a", Signature: "s", Extra: []Field{{"n", raw(`1`)}}},
				{Type: "thinking", Text: "b", Signature: "t"},
				{Type: "image", Data: "d", MimeType: "m"},
				{Type: "new", Extra: []Field{{"text", raw(`"x"`)}}},
				{Extra: []Field{{noObject, raw(`"bare"`)}}},
			},
		}},
		{"calls", `{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{"b":1,"a":12345678901234567890},"thoughtSignature":"s"},{"type":"toolCall","arguments":"{","argumentsError":"e"},{"type":"toolCall","id":5,"arguments":null},{"type":"toolCall"}]}`, Message{
			Role: Assistant,
			Content: []Block{
				{Type: "toolCall", Signature: "s", Call: &Call{ID: "c", Name: "n", Arguments: raw(`{"b":1,"a":12345678901234567890}`)}},
				{Type: "toolCall", Call: &Call{Arguments: raw(`"{"`), ArgumentsError: "e"}},
				{Type: "toolCall", Call: &Call{Arguments: raw(`null`)}, Extra: []Field{{"id", raw(`5`)}}},
				{Type: "toolCall", Call: &Call{}},
			},
		}},
		{"result", `{"role":"toolResult","toolCallId":"c","toolName":"n","content":"ok","details":null,"usage":{"x":1},"isError":true,"durationMs":0,"timestamp":5}`, Message{
			Role: ToolResult, ToolCallID: "c", ToolName: "n", Content: []Block{TextBlock("ok")}, Form: FormString,
			Details: raw(`null`), ToolUsage: raw(`{"x":1}`), IsError: true, HasIsError: true, HasDuration: true, Timestamp: 5,
		}},
		{"role behind usage", `{"usage":{"input":1},"role":"toolResult"}`, Message{Role: ToolResult, Form: FormAbsent, ToolUsage: raw(`{"input":1}`)}},
		{"usage", `{"role":"assistant","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"reasoning":5,"totalTokens":15,"cost":{"input":0.5,"total":1e-7,"who":"me"},"tier":"x"}}`, Message{
			Role: Assistant, Form: FormAbsent, Usage: &Usage{
				Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, TotalTokens: 15, Has: 127,
				Cost:  Cost{Input: 0.5, Total: 1e-7, Extra: []Field{{"who", raw(`"me"`)}}},
				Extra: []Field{{"tier", raw(`"x"`)}},
			},
		}},
		{"odd numbers", `{"role":"assistant","timestamp":1.5,"durationMs":-1,"usage":{"input":"1","output":-2,"cacheRead":9007199254740993,"cacheWrite":1e2,"cost":{"input":"x"}}}`, Message{
			Role: Assistant, Form: FormAbsent, DurationMs: -1, HasDuration: true,
			Extra: []Field{{"timestamp", raw(`1.5`)}},
			Usage: &Usage{
				Output: -2, CacheRead: 9007199254740993, CacheWrite: 100, Has: HasOutput | HasCacheRead | HasCacheWrite | HasCost,
				Cost:  Cost{Extra: []Field{{"input", raw(`"x"`)}}},
				Extra: []Field{{"input", raw(`"1"`)}},
			},
		}},
		{"sections", `{"role":"system","content":"p","sections":{"a":"x","A":null},"toolsAdded":[{"name":"t","description":"d","parameters":{"type" : "object"},"z":1},7],"toolsRemoved":[{"name":"u"},"v"]}`, Message{
			Role: System, Form: FormString, Content: []Block{TextBlock("p")},
			Sections:     []Section{{Name: "a", Text: "x"}, {Name: "A", Removed: true}},
			ToolsAdded:   []Tool{{"t", "d", raw(`{"type" : "object"}`), []Field{{"z", raw(`1`)}}}},
			ToolsRemoved: []ToolRef{{"u"}},
		}},
		{"sections of another kind", `{"role":"system","sections":{"a":"x","b":1}}`, Message{
			Role: System, Form: FormAbsent, Extra: []Field{{"sections", raw(`{"a":"x","b":1}`)}},
		}},
		{"last wins", `{"role":"user","content":"a","x":1,"content":[{"type":"text","text":"a","text":"b"}],"x":2}`, Message{
			Role: User, Content: []Block{TextBlock("b")}, Extra: []Field{{"x", raw(`2`)}},
		}},
		{"bad UTF-8", "{\"role\":\"user\",\"content\":\"a\xffb\\n\xed\xa0\x80\"}", Message{
			Role: User, Form: FormString, Content: []Block{TextBlock("a\uFFFDb\n\uFFFD\uFFFD\uFFFD")},
		}},
		{"surrogates", `{"role":"user","content":"\ud83d\ude00 \ud83d \ude00\ud83d\ud83d\ude00"}`, Message{
			Role: User, Form: FormString, Content: []Block{TextBlock("😀 \uFFFD \uFFFD\uFFFD😀")},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseMessage([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			again, err := ParseMessage(AppendMessage(nil, &got))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(stated(got), stated(again)); diff != "" {
				t.Errorf("written and read again (-first +second):\n%s", diff)
			}
		})
	}
}

// stated adds what writing states always.
func stated(m Message) Message {
	m.HasIsError = m.HasIsError || m.Role == ToolResult
	for i := range m.Content {
		if c := m.Content[i].Call; c != nil && c.Arguments == nil {
			c.Arguments = json.RawMessage("{}")
		}
	}
	return m
}
