package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
)

// DigestPrefix starts every digest that turnlog writes: the version of the
// scheme and the hash.
const DigestPrefix = "v1:sha256:"

type sum = [sha256.Size]byte

// chain is the digest of a list of messages that grows: each message's own
// digest is hashed onto the digest of those before it. The state is 32 bytes,
// so a checker can keep one for every point of a tree, and a long history
// costs one hash a message instead of one history a request.
type chain struct {
	n   int
	sum sum
}

func (c *chain) add(leaf sum) {
	var b [2 * sha256.Size]byte
	copy(b[:], c.sum[:])
	copy(b[sha256.Size:], leaf[:])
	c.sum = sha256.Sum256(b[:])
	c.n++
}

// Digest identifies a projected request: same request, same digest, in any
// process. It covers model, thinking level, parameters, output limit, system
// text, declarations and messages; white space of embedded JSON, timestamps,
// usage and everything else that is not sent are left out.
func (r Request) Digest() string {
	var messages chain
	if r.chain != nil {
		for r.chain.n < len(r.Messages) {
			r.chain.add(leafOf(&r.Messages[r.chain.n]))
		}
		messages = *r.chain
	} else {
		for i := range r.Messages {
			messages.add(leafOf(&r.Messages[i]))
		}
	}
	tools := r.declared
	if tools == nil {
		tools = new(declared)
	}
	return head{r.Model.ID, r.Thinking, r.Params, r.MaxTokens}.digest(sha256.Sum256([]byte(r.System)), tools.digest(r.Tools), messages)
}

// RequestDigest recomputes the digest that a turnlog.request entry should
// state if it stands right after the last entry applied, and the number of
// messages. ok is false where the state cannot know it: another transport mode
// than none.
func (s *State) RequestDigest(r *transcript.Request) (digest string, messages int, ok bool) {
	if !recomputable(r) {
		return "", 0, false
	}
	q := s.Request().Project(ModeNone)
	q.Model.ID, q.Thinking, q.Params, q.MaxTokens = r.Model, r.Thinking, r.Params, r.MaxTokens
	return q.Digest(), len(q.Messages), true
}

func recomputable(r *transcript.Request) bool { return r.Mode == "" || Mode(r.Mode) == ModeNone }

func addMissing(c *chain, calls []callRef) {
	for _, call := range calls {
		m := missingResult(call)
		c.add(leafOf(&m))
	}
}

// head is what a request says besides prompt, tools and messages.
type head struct {
	model, thinking string
	params          json.RawMessage
	maxTokens       int64
}

// digest hashes one small document. Its long parts stand in it as their own
// hashes, in the order: model, thinking, params, maxTokens, system, tools,
// messages.
func (h head) digest(system, tools sum, messages chain) string {
	d := append([]byte(`{"model":`), transcript.AppendString(nil, h.model)...)
	if h.thinking != "" && h.thinking != "off" {
		d = transcript.AppendString(append(d, `,"thinking":`...), h.thinking)
	}
	if len(h.params) > 0 {
		d = appendCompact(append(d, `,"params":`...), h.params)
	}
	if h.maxTokens > 0 {
		d = strconv.AppendInt(append(d, `,"maxTokens":`...), h.maxTokens, 10)
	}
	d = appendSum(append(d, `,"system":`...), system)
	d = appendSum(append(d, `,"tools":`...), tools)
	d = strconv.AppendInt(append(d, `,"messages":{"count":`...), int64(messages.n), 10)
	d = appendSum(append(d, `,"chain":`...), messages.sum)
	d = append(d, "}}"...)
	digest := sha256.Sum256(d)
	return DigestPrefix + hex.EncodeToString(digest[:])
}

// declared remembers the digest of a tool list: schemas are long and sets
// change rarely.
type declared struct {
	sum     sum
	version int
	done    bool
}

func (d *declared) digest(tools []transcript.Tool) sum {
	if !d.done {
		d.sum, d.done = toolsSum(tools), true
	}
	return d.sum
}

func (d *declared) at(t ToolSet) sum {
	if d.version != t.Version() {
		d.version, d.done = t.Version(), false
	}
	if d.done {
		return d.sum
	}
	return d.digest(t.Tools())
}

func toolsSum(tools []transcript.Tool) sum {
	d := []byte{'['}
	for i := range tools {
		if i > 0 {
			d = append(d, ',')
		}
		d = appendDeclaration(d, &tools[i])
	}
	return sha256.Sum256(append(d, ']'))
}

func appendSum(dst []byte, s sum) []byte {
	dst = append(dst, '"')
	dst = hex.AppendEncode(dst, s[:])
	return append(dst, '"')
}

// appendDeclaration appends a tool as the model is told of it: fixed order of
// its fields, embedded JSON compact with its key order kept.
func appendDeclaration(dst []byte, t *transcript.Tool) []byte {
	dst = transcript.AppendString(append(dst, `{"name":`...), t.Name)
	dst = transcript.AppendString(append(dst, `,"description":`...), t.Description)
	if len(t.Parameters) > 0 {
		dst = appendCompact(append(dst, `,"parameters":`...), t.Parameters)
	}
	dst = appendFields(dst, t.Extra)
	return append(dst, '}')
}

func appendFields(dst []byte, fields []transcript.Field) []byte {
	for _, f := range fields {
		dst = append(transcript.AppendString(append(dst, ','), f.Name), ':')
		dst = appendCompact(dst, f.Value)
	}
	return dst
}

// appendCompact appends embedded JSON without white space, its key order and
// the text of its numbers and strings kept.
func appendCompact(dst []byte, raw json.RawMessage) []byte {
	b := bytes.NewBuffer(dst)
	if err := json.Compact(b, raw); err != nil {
		return append(dst, raw...) // not JSON: the bytes stand for themselves
	}
	return b.Bytes()
}

// leafOf is the digest of one message as it is sent.
func leafOf(m *transcript.Message) sum {
	return sha256.Sum256(appendSent(make([]byte, 0, 512), m))
}

// appendSent encodes what a request carries of a message: role, content, and
// what ties calls and results together.
func appendSent(d []byte, m *transcript.Message) []byte {
	d = transcript.AppendString(append(d, `{"role":`...), string(m.Role))
	d = append(d, `,"content":[`...)
	for i := range m.Content {
		if i > 0 {
			d = append(d, ',')
		}
		d = appendSentBlock(d, &m.Content[i])
	}
	d = append(d, ']')
	switch m.Role {
	case transcript.System:
		d = appendSentSystem(d, m)
	case transcript.Assistant:
		// Which model said it decides whether its thinking is sent.
		d = transcript.AppendString(append(d, `,"provider":`...), m.Provider)
		d = transcript.AppendString(append(d, `,"model":`...), m.Model)
	case transcript.ToolResult:
		d = transcript.AppendString(append(d, `,"toolCallId":`...), m.ToolCallID)
		d = transcript.AppendString(append(d, `,"toolName":`...), m.ToolName)
		d = strconv.AppendBool(append(d, `,"isError":`...), m.IsError)
	}
	return append(d, '}')
}

func appendSentBlock(d []byte, b *transcript.Block) []byte {
	d = transcript.AppendString(append(d, `{"type":`...), b.Type)
	switch b.Type {
	case transcript.BlockText, transcript.BlockThinking:
		d = transcript.AppendString(append(d, `,"text":`...), b.Text)
	case transcript.BlockImage:
		d = transcript.AppendString(append(d, `,"mimeType":`...), b.MimeType)
		d = transcript.AppendString(append(d, `,"data":`...), b.Data)
	case transcript.BlockToolCall:
		if b.Call != nil {
			d = transcript.AppendString(append(d, `,"id":`...), b.Call.ID)
			d = transcript.AppendString(append(d, `,"name":`...), b.Call.Name)
			d = appendCompact(append(d, `,"arguments":`...), b.Call.Arguments)
		}
	}
	if b.Signature != "" {
		d = transcript.AppendString(append(d, `,"signature":`...), b.Signature)
	}
	return append(appendFields(d, b.Extra), '}')
}

func appendSentSystem(d []byte, m *transcript.Message) []byte {
	for _, s := range m.Sections {
		d = transcript.AppendString(append(d, `,"section":`...), s.Name)
		if s.Removed {
			d = append(d, `,"text":null`...)
		} else {
			d = transcript.AppendString(append(d, `,"text":`...), s.Text)
		}
	}
	for i := range m.ToolsAdded {
		d = appendDeclaration(append(d, `,"added":`...), &m.ToolsAdded[i])
	}
	for _, r := range m.ToolsRemoved {
		d = transcript.AppendString(append(d, `,"removed":`...), r.Name)
	}
	return d
}
