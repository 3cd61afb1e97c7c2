package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Response is one scripted answer.
type Response struct {
	Content      []Block
	StopReason   string // "" is toolUse when there is a tool call, else stop
	ErrorMessage string
	Usage        *transcript.Usage // nil if the answer reports none

	NoStart     bool   // the stream has no start: the answer arrives whole
	NoEnd       bool   // the stream ends without its last event; the answer is complete all the same
	IgnoreAbort bool   // the stream goes on after an abort
	Throw       string // not "": the model cannot be asked, with this text

	throws bool // Throw was stated, even if empty
}

// Block is a content block and how it is streamed.
type Block struct {
	transcript.Block
	Chunks []string // deltas; nil is the whole text as one, and none for a tool call
}

// shape is the JSON of a response: content blocks, or the short forms.
type shape struct {
	Content  json.RawMessage `json:"content"`
	Text     *string         `json:"text"`
	Thinking *string         `json:"thinking"`
	Calls    []callShape     `json:"calls"`

	StopReason   string          `json:"stopReason"`
	ErrorMessage string          `json:"errorMessage"`
	Usage        json.RawMessage `json:"usage"`
	NoStart      bool            `json:"noStart"`
	NoEnd        bool            `json:"noEnd"`
	IgnoreAbort  bool            `json:"ignoreAbort"`
	Throw        *string         `json:"throw"`
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
	var s shape
	if err := json.Unmarshal(raw, &s); err != nil {
		return Response{}, err
	}
	r := Response{
		StopReason: s.StopReason, ErrorMessage: s.ErrorMessage,
		NoStart: s.NoStart, NoEnd: s.NoEnd, IgnoreAbort: s.IgnoreAbort,
	}
	if s.Throw != nil {
		r.Throw, r.throws = *s.Throw, true
	}
	var err error
	if r.Content, err = s.blocks(); err != nil {
		return Response{}, err
	}
	if len(s.Usage) > 0 {
		r.Usage, err = parseUsage(s.Usage)
	}
	return r, err
}

func (s *shape) blocks() ([]Block, error) {
	if len(s.Content) > 0 && !bytes.Equal(s.Content, []byte("null")) {
		return parseBlocks(s.Content)
	}
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
		args := c.Arguments
		if len(args) == 0 || bytes.Equal(args, []byte("null")) {
			args = json.RawMessage(`{}`)
		}
		call := &transcript.Call{ID: c.ID, Name: c.Name, Arguments: args}
		blocks = append(blocks, Block{Block: transcript.Block{Type: transcript.BlockToolCall, Call: call}})
	}
	return blocks, nil
}

// parseBlocks reads content blocks as a transcript has them. Their deltas are
// no part of a message.
func parseBlocks(content json.RawMessage) ([]Block, error) {
	m, err := transcript.ParseMessage(slices.Concat([]byte(`{"role":"assistant","content":`), content, []byte("}")))
	if err != nil {
		return nil, err
	}
	var streams []struct {
		Chunks []string `json:"chunks"`
	}
	if err := json.Unmarshal(content, &streams); err != nil {
		return nil, err
	}
	blocks := make([]Block, len(m.Content))
	for i, b := range m.Content {
		b.Extra = slices.DeleteFunc(b.Extra, func(f transcript.Field) bool { return f.Name == "chunks" })
		if b.Call != nil {
			b.Call.Column = 0
		}
		blocks[i] = Block{Block: b, Chunks: streams[i].Chunks}
	}
	return blocks, nil
}

func parseUsage(raw json.RawMessage) (*transcript.Usage, error) {
	m, err := transcript.ParseMessage(slices.Concat([]byte(`{"role":"assistant","content":[],"usage":`), raw, []byte("}")))
	if err != nil {
		return nil, fmt.Errorf("usage: %w", err)
	}
	if u := m.Usage; u != nil {
		if u.TotalTokens == 0 {
			u.TotalTokens = u.Input + u.Output + u.CacheRead + u.CacheWrite
		}
		u.Has = 0 // an answer states every count, like those of an endpoint
	}
	return m.Usage, nil
}

// callID makes an id for a call that the script gives none: the answer it
// belongs to and its place in it, so that a resumed run makes the same one.
func callID(response, index int, taken map[string]bool) string {
	id := "call_" + strconv.Itoa(response+1) + "_" + strconv.Itoa(index+1)
	for n := 2; taken[id]; n++ {
		id = "call_" + strconv.Itoa(response+1) + "_" + strconv.Itoa(index+1) + "_" + strconv.Itoa(n)
	}
	taken[id] = true
	return id
}
