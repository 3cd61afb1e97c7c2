package scripted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Response is one scripted answer.
type Response struct {
	Content      []Block           `json:"-"`
	StopReason   string            `json:"stopReason"` // "" is toolUse when there is a tool call, else stop
	ErrorMessage string            `json:"errorMessage"`
	Usage        *transcript.Usage `json:"-"` // nil if the answer reports none

	NoStart     bool    `json:"noStart"`     // the stream has no start: the answer arrives whole
	NoEnd       bool    `json:"noEnd"`       // the stream ends without its last event; the answer is complete all the same
	IgnoreAbort bool    `json:"ignoreAbort"` // the stream goes on after an abort
	Throw       *string `json:"throw"`       // the model cannot be asked, with this text
}

// Block is a content block and how it is streamed.
type Block struct {
	transcript.Block
	Chunks []string // deltas; nil is the whole text as one, and none for a tool call
}

// shape is the JSON of a response: content blocks, or the short forms.
type shape struct {
	Response
	Content  json.RawMessage `json:"content"`
	Usage    json.RawMessage `json:"usage"`
	Text     *string         `json:"text"`
	Thinking *string         `json:"thinking"`
	Calls    []callShape     `json:"calls"`
}

type callShape struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Parse reads responses, one JSON object each:
//
//	{"content": [BLOCK...], "stopReason", "errorMessage", "usage", "noStart", "noEnd", "ignoreAbort", "throw"}
//	{"thinking": "...", "text": "...", "calls": [{"name", "arguments", "id"}], ...}
//
// Every member may be absent. A block is one of a transcript, with its stream
// deltas in "chunks". The second form is short for the first. The error names
// the response, counted from 1.
func Parse(raw []json.RawMessage) ([]Response, error) {
	responses := make([]Response, len(raw))
	for i, r := range raw {
		var err error
		if responses[i], err = parseResponse(r); err != nil {
			return nil, fmt.Errorf("read scripted response %d: %w", i+1, err)
		}
	}
	return responses, nil
}

func parseResponse(raw json.RawMessage) (Response, error) {
	s := shape{Content: json.RawMessage("null"), Usage: json.RawMessage("null")}
	if err := json.Unmarshal(raw, &s); err != nil {
		return Response{}, err
	}
	m, err := transcript.ParseMessage(slices.Concat([]byte(`{"role":"assistant","content":`), s.Content, []byte(`,"usage":`), s.Usage, []byte("}")))
	if err != nil {
		return Response{}, err
	}
	r := s.Response
	if r.Usage = m.Usage; m.Usage != nil {
		u := m.Usage
		u.TotalTokens = cmp.Or(u.TotalTokens, u.Input+u.Output+u.CacheRead+u.CacheWrite)
		u.Has = 0 // an answer states every count, like those of an endpoint
	}
	if string(s.Content) == "null" {
		r.Content, err = s.blocks()
	} else {
		r.Content, err = withChunks(m.Content, s.Content)
	}
	return r, err
}

// blocks gives the content of the short forms.
func (s *shape) blocks() ([]Block, error) {
	var blocks []Block
	if s.Thinking != nil {
		blocks = append(blocks, Block{Block: transcript.Block{Type: transcript.BlockThinking, Text: *s.Thinking}})
	}
	if s.Text != nil {
		blocks = append(blocks, Block{Block: transcript.TextBlock(*s.Text)})
	}
	for i, c := range s.Calls {
		if c.Name == "" {
			return nil, fmt.Errorf("call %d has no name", i+1)
		}
		call := &transcript.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments}
		if len(c.Arguments) == 0 || string(c.Arguments) == "null" {
			call.Arguments = json.RawMessage(`{}`)
		}
		blocks = append(blocks, Block{Block: transcript.Block{Type: transcript.BlockToolCall, Call: call}})
	}
	return blocks, nil
}

// withChunks gives the blocks of a content with their deltas, which are no part
// of a message.
func withChunks(content []transcript.Block, raw json.RawMessage) ([]Block, error) {
	var streams []struct {
		Chunks []string `json:"chunks"`
	}
	if err := json.Unmarshal(raw, &streams); err != nil {
		return nil, err
	}
	blocks := make([]Block, len(content))
	for i, b := range content {
		b.Extra = slices.DeleteFunc(b.Extra, func(f transcript.Field) bool { return f.Name == "chunks" })
		blocks[i] = Block{Block: b, Chunks: streams[i].Chunks}
	}
	return blocks, nil
}

// callID makes an id for a call that the script gives none: the answer it
// belongs to and its place in it, so that a resumed run makes the same one.
func callID(response, index int, taken map[string]bool) string {
	base := fmt.Sprintf("call_%d_%d", response+1, index+1)
	id := base
	for n := 2; taken[id]; n++ {
		id = fmt.Sprintf("%s_%d", base, n)
	}
	taken[id] = true
	return id
}
