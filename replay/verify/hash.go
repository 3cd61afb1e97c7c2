package verify

import (
	"bytes"
	"encoding/json"
	"hash/maphash"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
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
	var s jsonx.Scanner
	s.Reset(raw, false)
	return hashValue(seed, &s)
}

func hashValue(seed maphash.Seed, s *jsonx.Scanner) uint64 {
	switch s.Peek() {
	case '{': // the sum of its members, whose order does not count
		sum := uint64('{')
		for o := s.Open(); s.Next(&o); {
			sum += mix(maphash.String(seed, o.Name), hashValue(seed, s))
		}
		return mix('{', sum)
	case '[':
		sum := uint64('[')
		for n := 0; s.Item(n); n++ {
			sum = mix(sum, hashValue(seed, s))
		}
		return mix('[', sum)
	case '"': // by what it says, however it is escaped
		return mix('"', maphash.Bytes(seed, s.Text()))
	}
	return maphash.Bytes(seed, s.Value())
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
