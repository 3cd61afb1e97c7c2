package answer

import (
	"encoding/json"
	"fmt"

	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/loop/provider/wire/loose"
)

// ReasoningFields are the names under which endpoints send their thinking, in
// the order in which they are looked for. The name is the signature of the
// thinking block, and under it the thinking goes back to its model.
var ReasoningFields = []string{"reasoning_content", "reasoning", "reasoning_text"}

// chunk is one frame of a stream. Its fields take whatever servers have put
// there; a member of an unexpected type is as good as absent.
type chunk struct {
	ID      loose.String   `json:"id"`
	Model   loose.String   `json:"model"`
	Choices []choice       `json:"choices"`
	Usage   *reportedUsage `json:"usage"`
	Groq    struct {
		Usage *reportedUsage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        loose.Int       `json:"index"`
	Delta        delta           `json:"delta"`
	FinishReason loose.String    `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // OpenRouter
	Usage        *reportedUsage  `json:"usage"` // Moonshot
}

type delta struct {
	Content          loose.Text     `json:"content"`
	ReasoningContent loose.Text     `json:"reasoning_content"`
	Reasoning        loose.Text     `json:"reasoning"`
	ReasoningText    loose.Text     `json:"reasoning_text"`
	Refusal          loose.Text     `json:"refusal"`
	ToolCalls        []callDelta    `json:"tool_calls"`
	FunctionCall     *functionDelta `json:"function_call"` // what tool_calls were called before
}

type callDelta struct {
	Index    loose.Int     `json:"index"`
	ID       loose.String  `json:"id"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      loose.String      `json:"name"`
	Arguments argumentsFragment `json:"arguments"`
}

// argumentsFragment is a piece of arguments: a string as the format has it, or
// the JSON value itself, whose bytes are the piece then.
type argumentsFragment struct{ text loose.Text }

// UnmarshalJSON never fails.
func (a *argumentsFragment) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' && string(b) != "null" {
		a.text = loose.Quote(string(b))
		return nil
	}
	return a.text.UnmarshalJSON(b)
}

// size is the length of what the choice adds to an answer.
func (c *choice) size() int {
	d := &c.Delta
	thinking, _ := d.reasoning()
	n := len(c.FinishReason) + len(d.Content) + len(d.Refusal) + len(thinking)
	for _, call := range d.calls() {
		n += len(call.ID) + len(call.Function.Name) + len(call.Function.Arguments.text)
	}
	return n
}

// reasoning gives the thinking of a delta and the name of its field. Proxies
// send the same text under two names; the first one counts.
func (d *delta) reasoning() (loose.Text, string) {
	for i, f := range []loose.Text{d.ReasoningContent, d.Reasoning, d.ReasoningText} {
		if f != "" {
			return f, ReasoningFields[i]
		}
	}
	return "", ""
}

// calls gives the call deltas, in whichever of the two ways they came.
func (d *delta) calls() []callDelta {
	if d.FunctionCall == nil {
		return d.ToolCalls
	}
	return append(d.ToolCalls, callDelta{Function: *d.FunctionCall})
}

// decodeChunk reads a frame. An error says that it is not JSON.
func decodeChunk(raw []byte) (chunk, error) {
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil && !json.Valid(raw) {
		return chunk{}, fmt.Errorf("malformed chunk: %w: %s", err, wire.Excerpt(raw))
	}
	return c, nil
}
