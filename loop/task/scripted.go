package task

import (
	"encoding/json"

	"gopkg.in/yaml.v3"
)

// responseKeys are the keys of one answer of a scripted model: the whole form
// with content, and the short one with text and calls. What they mean is for
// loop/provider/scripted; here only a misspelt one is caught, since there it
// would be an answer that lacks something.
var responseKeys = []struct{ name, doc string }{
	{"text", "Text of the answer; short for a text block."},
	{"thinking", "Thinking before it; short for a thinking block."},
	{"calls", "Tool calls after it; short for toolCall blocks."},
	{"content", "The content blocks themselves."},
	{"stopReason", "Default: toolUse with a call, else stop."},
	{"errorMessage", "Text of an answer that failed."},
	{"usage", "Tokens that the answer reports."},
	{"noStart", "The stream has no start event."},
	{"noEnd", "The stream ends without its last event."},
	{"ignoreAbort", "The stream goes on after an abort."},
	{"throw", "The model cannot be asked at all, with this text."},
}

// callKeys are the keys of one of calls.
var callKeys = []struct{ name, doc string }{
	{"name", "The tool."},
	{"arguments", "Its arguments; default none."},
	{"id", "Id of the call; default: a new one."},
}

// response is one answer of a scripted model, kept as JSON.
func response() value[json.RawMessage] {
	return value[json.RawMessage]{
		schema: responseSchema(),
		decode: func(d *decoder, n *yaml.Node) (json.RawMessage, bool) {
			raw, ok := objectJSON().decode(d, n)
			if !ok {
				return nil, false
			}
			before := len(d.list)
			d.unknownKeys(n, "a response", keyNames(responseKeys))
			has := map[string]*yaml.Node{}
			for _, m := range members(n) {
				has[m.name] = m.value
			}
			if has["content"] != nil && (has["text"] != nil || has["thinking"] != nil || has["calls"] != nil) {
				d.at(n, "", "a response has either content, or text, thinking and calls")
			}
			if calls := has["calls"]; calls != nil {
				d.calls(calls)
			}
			return raw, len(d.list) == before
		},
	}
}

// calls checks the shape of the calls of a response.
func (d *decoder) calls(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		d.at(n, "", "calls: want a list, found %s", kindName(n))
		return
	}
	for _, item := range n.Content {
		call := target(item)
		if call.Kind != yaml.MappingNode {
			d.at(item, "write { name: read, arguments: { … } }", "a call is a mapping, found %s", kindName(item))
			continue
		}
		d.unknownKeys(call, "a call", keyNames(callKeys))
		named := false
		for _, m := range members(call) {
			named = named || m.name == "name"
		}
		if !named {
			d.at(call, "", "a call needs a name")
		}
	}
}

func keyNames(table []struct{ name, doc string }) []string {
	names := make([]string, len(table))
	for i, k := range table {
		names[i] = k.name
	}
	return names
}

func responseSchema() *schema {
	object := func(table []struct{ name, doc string }) *schema {
		s := &schema{Type: "object", AdditionalProperties: false}
		var properties definitions
		for _, k := range table {
			properties = append(properties, definition{k.name, &schema{Description: k.doc}})
		}
		s.Properties = &properties
		s.PatternProperties = &definitions{{"^x-", &schema{}}}
		return s
	}
	s, call := object(responseKeys), object(callKeys)
	call.Required = []string{"name"}
	for _, p := range *s.Properties {
		if p.name == "calls" {
			p.Type, p.Items = "array", call
		}
	}
	return s
}
