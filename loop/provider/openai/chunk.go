package openai

import (
	"encoding/json"
	"errors"
	"fmt"
)

// chunk is one frame of a stream. Its fields take whatever servers have put
// there; a member of an unexpected type is as good as absent.
type chunk struct {
	ID      looseString    `json:"id"`
	Model   looseString    `json:"model"`
	Choices []choice       `json:"choices"`
	Usage   *reportedUsage `json:"usage"`
	Groq    *struct {
		Usage *reportedUsage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        looseInt        `json:"index"`
	Delta        delta           `json:"delta"`
	FinishReason looseString     `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // OpenRouter
	Usage        *reportedUsage  `json:"usage"` // Moonshot
}

type delta struct {
	Content          fragment       `json:"content"`
	ReasoningContent fragment       `json:"reasoning_content"`
	Reasoning        fragment       `json:"reasoning"`
	ReasoningText    fragment       `json:"reasoning_text"`
	Refusal          fragment       `json:"refusal"`
	ToolCalls        []callDelta    `json:"tool_calls"`
	FunctionCall     *functionDelta `json:"function_call"` // what tool_calls were called before
}

type callDelta struct {
	Index    looseInt      `json:"index"`
	ID       looseString   `json:"id"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      looseString       `json:"name"`
	Arguments argumentsFragment `json:"arguments"`
}

// argumentsFragment is a piece of arguments: a string as the format has it, or
// the JSON value itself, whose bytes are the piece then.
type argumentsFragment struct{ fragment }

// UnmarshalJSON never fails.
func (a *argumentsFragment) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' && string(b) != "null" {
		a.fragment = fragment(b)
		return nil
	}
	return a.fragment.UnmarshalJSON(b)
}

// reasoning gives the thinking of a delta and the name of its field. Proxies
// send the same text under two names; the first one counts.
func (d *delta) reasoning() (fragment, string) {
	for i, f := range []fragment{d.ReasoningContent, d.Reasoning, d.ReasoningText} {
		if f != "" {
			return f, reasoningFields[i]
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
	err := json.Unmarshal(raw, &c)
	if err == nil {
		return c, nil
	}
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) && json.Valid(raw) {
		return c, nil
	}
	return chunk{}, fmt.Errorf("malformed chunk: %w: %s", err, excerpt(raw))
}
