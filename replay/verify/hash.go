package verify

import (
	"bytes"
	"encoding/json"
	"hash/maphash"

	"github.com/turnlog/turnlog/replay/transcript"
)

func trimLineEnd(raw []byte) []byte {
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	return bytes.TrimSuffix(raw, []byte("\r"))
}

// hashContent hashes what a message says. Equal content has equal hashes,
// other fields do not count.
func hashContent(seed maphash.Seed, m *transcript.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range m.Content {
		b := &m.Content[i]
		writeField(&h, b.Type)
		writeField(&h, b.Text)
		writeField(&h, b.MimeType)
		writeField(&h, b.Data)
		if b.Call != nil {
			writeField(&h, b.Call.ID)
			writeField(&h, b.Call.Name)
			h.Write(b.Call.Arguments)
		}
		for _, f := range b.Extra {
			writeField(&h, f.Name)
			h.Write(f.Value)
		}
	}
	return h.Sum64()
}

func writeField(h *maphash.Hash, s string) {
	h.WriteString(s)
	h.WriteByte(0)
}

// HashContent hashes what a message says, like the engine does for its own
// comparisons.
func (p *Pass) HashContent(m *transcript.Message) uint64 { return hashContent(p.e.links.Seed(), m) }

// hashCall hashes name and arguments of a call; the order of keys does not
// count.
func hashCall(seed maphash.Seed, c *transcript.Call) uint64 {
	return mix(maphash.String(seed, c.Name), hashJSON(seed, c.Arguments))
}

// SameJSON reports whether two JSON texts hold the same value: white space and
// the order of keys do not count, the digits of numbers do.
func SameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	seed := maphash.MakeSeed()
	return hashJSON(seed, a) == hashJSON(seed, b)
}

func mix(a, b uint64) uint64 {
	a ^= b + 0x9E3779B97F4A7C15 + a<<6 + a>>2
	a ^= a >> 29
	a *= 0xBF58476D1CE4E5B9
	return a ^ a>>32
}

// hashJSON hashes a JSON value so that the order of keys and white space do
// not count. It expects valid JSON, as the reader has checked it, and gives
// some hash for anything else.
func hashJSON(seed maphash.Seed, raw []byte) uint64 {
	h := jsonHasher{seed: seed, rest: raw}
	return h.value()
}

type jsonHasher struct {
	seed maphash.Seed
	rest []byte
}

func (h *jsonHasher) value() uint64 {
	h.space()
	if len(h.rest) == 0 {
		return 0
	}
	switch h.rest[0] {
	case '{':
		return h.object()
	case '[':
		return h.array()
	case '"':
		return mix('"', h.text())
	}
	end := 0
	for end < len(h.rest) && !bytes.ContainsRune([]byte(",]}: \t\r\n"), rune(h.rest[end])) {
		end++
	}
	end = max(1, end)
	word := h.rest[:end]
	h.rest = h.rest[end:]
	return maphash.Bytes(h.seed, word)
}

func (h *jsonHasher) space() {
	for len(h.rest) > 0 && (h.rest[0] == ' ' || h.rest[0] == '\n' || h.rest[0] == '\t' || h.rest[0] == '\r') {
		h.rest = h.rest[1:]
	}
}

// next skips c and the space before it, if it stands there.
func (h *jsonHasher) next(c byte) bool {
	h.space()
	if len(h.rest) == 0 || h.rest[0] != c {
		return false
	}
	h.rest = h.rest[1:]
	return true
}

// object adds its members up, so that their order does not count.
func (h *jsonHasher) object() uint64 {
	h.rest = h.rest[1:]
	sum := uint64('{')
	for len(h.rest) > 0 && !h.next('}') {
		h.space()
		key := h.text()
		h.next(':')
		sum += mix(key, h.value())
		h.next(',')
	}
	return mix('{', sum)
}

func (h *jsonHasher) array() uint64 {
	h.rest = h.rest[1:]
	sum := uint64('[')
	for len(h.rest) > 0 && !h.next(']') {
		sum = mix(sum, h.value())
		h.next(',')
	}
	return mix('[', sum)
}

// text hashes a string by what it says, however it is escaped.
func (h *jsonHasher) text() uint64 {
	if len(h.rest) == 0 {
		return 0
	}
	end, escaped := 1, false
	for end < len(h.rest) && h.rest[end] != '"' {
		if h.rest[end] == '\\' {
			escaped = true
			end++
		}
		end++
	}
	end = min(end+1, len(h.rest))
	token := h.rest[:end]
	h.rest = h.rest[end:]
	if escaped {
		var s string
		if json.Unmarshal(token, &s) == nil {
			return maphash.String(h.seed, s)
		}
	}
	if len(token) < 2 {
		return 0
	}
	return maphash.Bytes(h.seed, token[1:len(token)-1])
}

// HashMessage hashes what makes a message the same message: role, content,
// what it answers, and its time and response id if it has them.
func (p *Pass) HashMessage(m *transcript.Message) uint64 {
	seed := p.e.links.Seed()
	h := mix(maphash.String(seed, string(m.Role)), hashContent(seed, m))
	h = mix(h, maphash.String(seed, m.ToolCallID))
	h = mix(h, maphash.String(seed, m.ResponseID))
	return mix(h, uint64(m.Timestamp))
}
