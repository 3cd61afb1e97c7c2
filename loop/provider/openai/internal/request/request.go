// Package request encodes what a model is asked as the body of a chat
// completion, each message once.
package request

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Request is a request as it goes out, and what is needed to judge its answer.
type Request struct {
	Model     replay.ModelRef
	MaxTokens int64 // bound on the answer as sent, 0 if none
	Tools     map[string]bool

	head     []byte // up to the first message
	messages []byte // each after a comma; shared with the history
	tail     []byte // images of the last tool results, and the end
}

// Defaults stand in for what a request leaves open.
type Defaults struct {
	Model     replay.ModelRef
	Params    Params
	MaxTokens int64
	Thinking  string
}

// New encodes r. The messages that h holds already are not encoded again, and
// h is that of r afterwards.
func New(r replay.Request, or Defaults, h *History) (*Request, error) {
	if r.System == "" && len(r.Tools) == 0 {
		r = r.Project(replay.ModeNone) // a no-op on what has been projected and has neither
	}
	p := or.Params
	if len(r.Params) > 0 {
		var err error
		if p, err = ParseParams(r.Params); err != nil {
			return nil, fmt.Errorf("params: %w", err)
		}
	}
	q := &Request{Tools: make(map[string]bool, len(r.Tools))}
	q.Model.Provider = cmp.Or(r.Model.Provider, or.Model.Provider)
	q.Model.ID = cmp.Or(r.Model.ID, or.Model.ID)
	p, q.MaxTokens = p.bound(cmp.Or(r.MaxTokens, or.MaxTokens), q.Model.ID)
	for i := range r.Tools {
		q.Tools[r.Tools[i].Name] = true
	}
	q.head = appendHead(nil, q.Model.ID, p.effort(cmp.Or(r.Thinking, or.Thinking)), r.Tools)
	h.extend(r.Messages, q.Model)
	q.messages = h.buf[:len(h.buf):len(h.buf)]
	q.tail = append(appendImages(nil, r.Messages), "]}"...)
	if r.System == "" {
		q.messages = bytes.TrimPrefix(q.messages, []byte(","))
	} else {
		q.head = append(transcript.AppendString(append(q.head, `{"role":"system","content":`...), r.System), '}')
	}
	return q, nil
}

// appendHead writes everything that stands before the messages.
func appendHead(dst []byte, model string, p Params, tools []transcript.Tool) []byte {
	dst = transcript.AppendString(append(dst, `{"model":`...), model)
	dst = append(p.append(dst), `,"stream":true`...)
	if !p.has("stream_options") {
		dst = append(dst, `,"stream_options":{"include_usage":true}`...)
	}
	if len(tools) > 0 {
		dst = append(appendTools(append(dst, `,"tools":[`...), tools), ']')
	}
	return append(dst, `,"messages":[`...)
}

// Size is the length of the body.
func (q *Request) Size() int64 { return int64(len(q.head) + len(q.messages) + len(q.tail)) }

// Body reads the request, from the start each time it is called.
func (q *Request) Body() io.ReadCloser {
	return io.NopCloser(io.MultiReader(bytes.NewReader(q.head), bytes.NewReader(q.messages), bytes.NewReader(q.tail)))
}
