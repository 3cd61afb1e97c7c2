package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// recorder keeps the bytes of answers whose decoded form loses something: the
// SDK (v1.8.0) gives schemas and structured content as maps and float64, and
// so without the order of keys and the last digits of large integers. It sees
// each message on its way, before the SDK does.
type recorder struct {
	mu      sync.Mutex
	pending map[string]pending         // id of a request → what it is
	schemas map[string]json.RawMessage // tool → its inputSchema
	results map[string]json.RawMessage // progress token of a call → its result
}

type pending struct{ method, token string }

func newRecorder() *recorder {
	return &recorder{pending: map[string]pending{}, schemas: map[string]json.RawMessage{}, results: map[string]json.RawMessage{}}
}

// sent takes a request.
func (r *recorder) sent(message []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Meta struct {
				Token string `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(message, &m) != nil || m.ID == nil || m.Method != "tools/list" && m.Method != "tools/call" {
		return // a batch, a notification, or nothing that loses anything
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending[string(m.ID)] = pending{m.Method, m.Params.Meta.Token}
}

// received takes an answer, or anything else that came.
func (r *recorder) received(message []byte) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(message, &m) != nil || m.ID == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.pending[string(m.ID)]
	if !ok {
		return
	}
	delete(r.pending, string(m.ID))
	if p.method == "tools/call" {
		r.results[p.token] = m.Result
		return
	}
	var list struct {
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if json.Unmarshal(m.Result, &list) != nil {
		return // the SDK will say so
	}
	for _, t := range list.Tools {
		r.schemas[t.Name] = t.InputSchema
	}
}

// parameters is the schema of a tool as the server wrote it.
func (r *recorder) parameters(t *sdk.Tool) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	if raw := compacted(r.schemas[t.Name]); raw != nil {
		return raw
	}
	return encode(t.InputSchema)
}

// arguments are the names of those that a tool declares.
func (r *recorder) arguments(t *sdk.Tool) []string {
	var declared struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(r.parameters(t), &declared) != nil {
		return nil // calls will fail, and say so
	}
	return slices.Collect(maps.Keys(declared.Properties))
}

// take gives the result of a call, once; nil if none was seen.
func (r *recorder) take(token string) json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw := r.results[token]
	delete(r.results, token)
	return raw
}

// events finds the messages in a stream of server-sent events as its bytes
// pass by.
type events struct {
	line, data bytes.Buffer
	emit       func([]byte)
}

func (e *events) add(p []byte) {
	for part := range bytes.Lines(p) {
		e.line.Write(part)
		if line, whole := bytes.CutSuffix(e.line.Bytes(), []byte("\n")); whole {
			e.field(bytes.TrimSuffix(line, []byte("\r")))
			e.line.Reset()
		}
	}
}

func (e *events) field(line []byte) {
	if len(line) == 0 {
		if e.data.Len() > 0 {
			e.emit(e.data.Bytes())
		}
		e.data.Reset()
		return
	}
	if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		if e.data.Len() > 0 {
			e.data.WriteByte('\n')
		}
		e.data.Write(bytes.TrimPrefix(value, []byte(" ")))
	}
}
