package jsondiff

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Digest identifies a value. Half of SHA-256 is enough that no two of the 2^32
// entries of any file collide by chance or by intent.
type Digest [16]byte

// Compare orders digests.
func (d Digest) Compare(other Digest) int { return bytes.Compare(d[:], other[:]) }

// Digester makes digests. The zero value is ready; it keeps the memory that it
// needs for the next one.
type Digester struct {
	b      []byte
	names  []string        // of the objects that are open
	arrays map[*any]Digest // by first item: those that were digested, as long as they cannot change or go away; nil remembers none
}

// Sum digests values: decoded JSON, or other digests.
func (s *Digester) Sum(parts ...any) Digest {
	s.b = s.b[:0]
	for _, p := range parts {
		s.value(p)
	}
	h := sha256.Sum256(s.b)
	if cap(s.b) > 4<<20 {
		s.b = nil // one long message must not pin its size
	}
	return Digest(h[:16])
}

// value appends decoded JSON in a form in which equal values, and only those,
// have equal bytes: members sorted, every part with its length, numbers by
// their value.
func (s *Digester) value(v any) {
	switch v := v.(type) {
	case nil:
		s.b = append(s.b, 'n')
	case bool:
		s.b = strconv.AppendBool(append(s.b, 'b'), v)
	case string:
		s.text('s', v)
	case json.Number:
		s.text('#', normal(v))
	case []any:
		s.array(v)
	case map[string]any:
		s.b = binary.AppendUvarint(append(s.b, '{'), uint64(len(v)))
		open := len(s.names)
		for name := range v {
			s.names = append(s.names, name)
		}
		slices.Sort(s.names[open:])
		for i := open; i < open+len(v); i++ {
			s.text('k', s.names[i])
			s.value(v[s.names[i]])
		}
		s.names = s.names[:open]
	case Digest:
		s.b = append(append(s.b, 'd'), v[:]...)
	}
}

// array appends an array, or where arrays are remembered its digest, so that
// those in each other are not digested again and again.
func (s *Digester) array(v []any) {
	start := len(s.b)
	s.b = binary.AppendUvarint(append(s.b, '['), uint64(len(v)))
	if len(v) == 0 {
		return
	}
	if d, ok := s.arrays[&v[0]]; ok {
		s.b = append(append(s.b[:start], 'a'), d[:]...)
		return
	}
	for _, item := range v {
		s.value(item)
	}
	if s.arrays != nil {
		h := sha256.Sum256(s.b[start:])
		s.arrays[&v[0]] = Digest(h[:16])
		s.b = append(append(s.b[:start], 'a'), h[:16]...)
	}
}

func (s *Digester) text(kind byte, text string) {
	s.b = binary.AppendUvarint(append(s.b, kind), uint64(len(text)))
	s.b = append(s.b, text...)
}

// Number is an integer as decoded JSON.
func Number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }

// sameNumber reports whether two numbers have one value: 1, 1.0 and 10e-1 do.
// Digits beyond what a float holds count.
func sameNumber(a, b json.Number) bool { return a == b || normal(a) == normal(b) }

// normal writes a number as digits without zeros at their ends and a power of
// ten. The exponent is never expanded: 1e999999999 would take all memory.
func normal(n json.Number) string {
	s, sign := string(n), ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		s, sign = rest, "-"
	}
	exp := int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.ParseInt(s[i+1:], 10, 64)
		if err != nil || e > 1<<60 || e < -1<<60 {
			return string(n)
		}
		s, exp = s[:i], e
	}
	if whole, fraction, ok := strings.Cut(s, "."); ok {
		s, exp = whole+fraction, exp-int64(len(fraction))
	}
	s = strings.TrimLeft(s, "0")
	digits := strings.TrimRight(s, "0")
	if digits == "" {
		return "0"
	}
	return sign + digits + "e" + strconv.FormatInt(exp+int64(len(s)-len(digits)), 10)
}
