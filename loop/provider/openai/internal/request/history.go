package request

import (
	"bytes"
	"slices"
	"sync"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// History is the encoded messages of a conversation. go-openai would encode
// all of it for each request: 2.7 ms at 1,000 messages, 17.7 ms at 6,000.
// Here a message is encoded once.
type History struct {
	to        replay.ModelRef
	items     []item
	buf       []byte         // the messages, each after a comma; never rewritten below len
	calls     map[string]int // ids of calls, and how many have them
	responses map[string]int // ids of responses
}

// item is one message as it was encoded.
type item struct {
	role       transcript.Role
	callID     string
	provider   string
	model      string
	response   string
	content    []transcript.Block // shared with the message, which nothing changes
	start, end int                // of its bytes in buf
}

func newItem(m *transcript.Message, start, end int) item {
	return item{m.Role, m.ToolCallID, m.Provider, m.Model, m.ResponseID, m.Content, start, end}
}

// holds reports whether the item is the encoding of m. In a history that grows
// the blocks are the very same memory; a view that was made anew is compared.
func (it *item) holds(m *transcript.Message) bool {
	if it.role != m.Role || it.callID != m.ToolCallID || it.provider != m.Provider || it.model != m.Model || len(it.content) != len(m.Content) {
		return false
	}
	if len(m.Content) == 0 || &it.content[0] == &m.Content[0] {
		return true
	}
	return slices.EqualFunc(it.content, m.Content, sameBlock)
}

func sameBlock(a, b transcript.Block) bool {
	if a.Type != b.Type || a.Text != b.Text || a.Signature != b.Signature || a.MimeType != b.MimeType || a.Data != b.Data {
		return false
	}
	if a.Call == nil || b.Call == nil {
		return a.Call == b.Call
	}
	return a.Call.ID == b.Call.ID && a.Call.Name == b.Call.Name && bytes.Equal(a.Call.Arguments, b.Call.Arguments)
}

// extend makes h the encoding of ms. Messages that it holds already are not
// encoded again; from the first other one on, everything is.
func (h *History) extend(ms []transcript.Message, to replay.ModelRef) {
	if h.to != to {
		*h = History{to: to} // which thinking goes along depends on the model
	}
	n := 0
	for n < len(h.items) && n < len(ms) && h.items[n].holds(&ms[n]) {
		n++
	}
	h.cut(n)
	for i := n; i < len(ms); i++ {
		h.encode(ms, i)
	}
}

// encode appends the message ms[i]. The images of the tool results before it
// come first.
func (h *History) encode(ms []transcript.Message, i int) {
	m, start := &ms[i], len(h.buf)
	if m.Role != transcript.ToolResult {
		h.buf = appendImages(h.buf, ms[:i])
	}
	h.buf = appendMessage(h.buf, m, h.to)
	h.items = append(h.items, newItem(m, start, len(h.buf)))
	if h.calls == nil {
		h.calls, h.responses = make(map[string]int), make(map[string]int)
	}
	h.responses[m.ResponseID]++
	for _, c := range m.Calls() {
		h.calls[c.ID]++
	}
}

// cut forgets all but the first n messages. A request that is still being
// written reads the old bytes, so they are not written over.
func (h *History) cut(n int) {
	if n == len(h.items) {
		return
	}
	for _, it := range h.items[n:] {
		h.responses[it.response]--
		for _, b := range it.content {
			if b.Call != nil {
				h.calls[b.Call.ID]--
			}
		}
	}
	h.buf = bytes.Clone(h.buf[:h.items[n].start])
	h.items = slices.Clone(h.items[:n])
}

// HasCall reports whether id is the id of a call of the history.
func (h *History) HasCall(id string) bool { return h.calls[id] > 0 }

// HasResponse reports whether id is the id of an answer of the history.
func (h *History) HasResponse(id string) bool { return h.responses[id] > 0 }

// Cache keeps the history between the requests of a conversation.
type Cache struct {
	mu sync.Mutex
	h  *History
}

// Take gives the kept history to one request. A second request at the same
// time starts its own.
func (s *Cache) Take() *History {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.h
	s.h = nil
	if h == nil {
		h = new(History)
	}
	return h
}

// Put gives it back, after the request that took it.
func (s *Cache) Put(h *History) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.h = h
}
