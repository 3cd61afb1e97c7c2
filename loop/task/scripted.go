package task

import (
	"encoding/json"
	"slices"

	"gopkg.in/yaml.v3"
)

// answer is one response of a scripted model: the whole form with content, or
// the short one with text, thinking and calls. The response is handed on as
// JSON, and loop/provider/scripted says what it means; it is read here so that
// a mistake has a line and does not show in the middle of a run.
type answer struct {
	content                    []json.RawMessage
	text, thinking             string
	calls                      []answerCall
	stopReason, failure, throw string
	usage                      json.RawMessage
	noStart, noEnd, deaf       bool
}

type answerCall struct {
	name, id  string
	arguments json.RawMessage
}

func answerTable() object[answer] {
	return object[answer]{
		name: "a response",
		keys: []key[answer]{
			to("text", text(), func(a *answer) *string { return &a.text }, "Text of the answer; short for a text block."),
			to("thinking", text(), func(a *answer) *string { return &a.thinking }, "Thinking before it; short for a thinking block."),
			to("calls", list(answerCallTable().value(answerCall{})), func(a *answer) *[]answerCall { return &a.calls }, "Tool calls after it; short for toolCall blocks."),
			to("content", list(block()), func(a *answer) *[]json.RawMessage { return &a.content }, "The content blocks themselves, as in a transcript; chunks are the deltas of a block."),
			to("stopReason", filled(), func(a *answer) *string { return &a.stopReason }, "Default: toolUse with a call, else stop."),
			to("errorMessage", text(), func(a *answer) *string { return &a.failure }, "Text of an answer that failed."),
			to("usage", objectJSON(), func(a *answer) *json.RawMessage { return &a.usage }, "Tokens that the answer reports: input, output, cacheRead, cacheWrite, totalTokens."),
			to("noStart", boolean(), func(a *answer) *bool { return &a.noStart }, "The stream has no start event."),
			to("noEnd", boolean(), func(a *answer) *bool { return &a.noEnd }, "The stream ends without its last event."),
			to("ignoreAbort", boolean(), func(a *answer) *bool { return &a.deaf }, "The stream goes on after an abort."),
			to("throw", text(), func(a *answer) *string { return &a.throw }, "The model cannot be asked at all, with this text."),
		},
		check: func(d *decoder, n *yaml.Node, _ *answer) {
			short := slices.ContainsFunc([]string{"text", "thinking", "calls"}, func(name string) bool { return find(n, name) != nil })
			if short && find(n, "content") != nil {
				d.at(n, "", "a response has either content, or text, thinking and calls")
			}
		},
	}
}

func answerCallTable() object[answerCall] {
	return object[answerCall]{
		name: "a call",
		keys: []key[answerCall]{
			to("name", text(), func(c *answerCall) *string { return &c.name }, "The tool.").must(),
			to("arguments", anyJSON(), func(c *answerCall) *json.RawMessage { return &c.arguments }, "Its arguments; default none."),
			to("id", filled(), func(c *answerCall) *string { return &c.id }, "Id of the call; default: a new one."),
		},
	}
}

// block is a content block. Its other keys depend on the type and are left to
// the transcript's own reader.
func block() value[json.RawMessage] {
	types := oneOf("text", "thinking", "toolCall", "image")
	return value[json.RawMessage]{
		schema: &schemaNode{Type: "object", Properties: &definitions{{"type", types.schema}}, Required: []string{"type"}},
		decode: func(d *decoder, n *yaml.Node) (json.RawMessage, bool) {
			raw, ok := objectJSON().decode(d, n)
			if !ok {
				return nil, false
			}
			typ := find(n, "type")
			if typ == nil {
				d.at(n, "", `a content block needs the key "type"`)
				return nil, false
			}
			_, ok = types.decode(d, typ)
			return raw, ok
		},
	}
}

// response is one answer, as JSON.
func response() value[json.RawMessage] {
	return value[json.RawMessage]{
		schema: ref("response"),
		decode: func(d *decoder, n *yaml.Node) (json.RawMessage, bool) {
			if !d.tables.answer.decode(d, n, &answer{}) {
				return nil, false
			}
			return objectJSON().decode(d, n)
		},
	}
}
