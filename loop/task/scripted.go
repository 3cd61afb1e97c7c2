package task

import (
	"encoding/json"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// answer is one response of a scripted model: the whole form with content, or
// the short one with text, thinking and calls. The response is handed on as
// JSON, and loop/provider/scripted says what it means; it is read here so that
// a mistake has a line and does not show in the middle of a run.
func answer() table.Value[struct{}] {
	return table.Mapping("a response", struct{}{}, answerKeys).Then(func(d *table.Decoder, n *table.Node, _ *struct{}) {
		short := n.Find("text") != nil || n.Find("thinking") != nil || n.Find("calls") != nil
		if short && n.Find("content") != nil {
			d.At(n, "", "a response has either content, or text, thinking and calls")
		}
	})
}

func answerKeys(k *table.Keys, _ *struct{}) {
	table.Only(k, "text", table.Text(), "Text of the answer; short for a text block.")
	table.Only(k, "thinking", table.Text(), "Thinking before it; short for a thinking block.")
	table.Only(k, "calls", table.List(table.Mapping("a call", struct{}{}, answerCallKeys)), "Tool calls after it; short for toolCall blocks.")
	table.Only(k, "content", table.List(block()), "The content blocks themselves, as in a transcript; chunks are the deltas of a block.")
	table.Only(k, "stopReason", table.Filled(), "Default: toolUse with a call, else stop.")
	table.Only(k, "errorMessage", table.Text(), "Text of an answer that failed.")
	table.Only(k, "usage", table.JSONObject(), "Tokens that the answer reports: input, output, cacheRead, cacheWrite, totalTokens.")
	table.Only(k, "noStart", table.Boolean(), "The stream has no start event.")
	table.Only(k, "noEnd", table.Boolean(), "The stream ends without its last event.")
	table.Only(k, "ignoreAbort", table.Boolean(), "The stream goes on after an abort.")
	table.Only(k, "throw", table.Text(), "The model cannot be asked at all, with this text.")
}

func answerCallKeys(k *table.Keys, _ *struct{}) {
	table.Only(k, "name", table.Text(), "The tool.").Must()
	table.Only(k, "arguments", table.JSON(), "Its arguments; default none.")
	table.Only(k, "id", table.Filled(), "Id of the call; default: a new one.")
}

// block is a content block. Its other keys depend on the type and are left to
// the transcript's own reader.
func block() table.Value[json.RawMessage] {
	types := table.OneOf("text", "thinking", "toolCall", "image")
	return table.JSONObject().Then(func(d *table.Decoder, n *table.Node, _ *json.RawMessage) {
		if typ := n.Find("type"); typ != nil {
			types.Decode(d, typ)
		} else {
			d.At(n, "", `a content block needs the key "type"`)
		}
	}).Says(func() *table.Schema {
		return &table.Schema{Type: "object", Properties: table.Schemas{{Name: "type", Schema: types.Schema()}}, Required: []string{"type"}}
	})
}

// response is one answer, as JSON.
func response() table.Value[json.RawMessage] {
	return table.Value[json.RawMessage]{
		Schema: table.Ref("response"),
		Decode: func(d *table.Decoder, n *table.Node) (json.RawMessage, bool) {
			if _, ok := answer().Decode(d, n); !ok {
				return nil, false
			}
			return table.JSONObject().Decode(d, n)
		},
	}
}
