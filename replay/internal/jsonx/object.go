package jsonx

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
)

// key is a name of an open object.
type key struct {
	name string
	hash uint64
	off  int
}

// Object is the state of reading one object, member by member:
//
//	for o := s.Open(); s.Next(&o); {
//		switch o.Name { … s.Value() … }
//	}
type Object struct {
	Name           string // of the current member
	NameAt, NameTo int    // where it stands, with its quotes
	N              int    // members so far

	// Repeats are the offsets of keys that are repeated later. Of a repeated
	// key the last counts, as in JavaScript: another pass, see
	// [Scanner.Reopen], leaves the earlier ones out.
	Repeats []int
	again   bool

	start       int
	first, last int // its keys in Scanner.keys

	seen  uint64         // a bit for each key so far
	index map[string]int // into Scanner.keys, for big objects
}

// smallObject is how many keys are compared one by one.
const smallObject = 32

// Open enters the object at the position, whose brace the caller has seen.
func (s *Scanner) Open() Object {
	o := Object{start: s.Pos, first: len(s.keys)}
	s.Pos++
	s.enter()
	return o
}

// Reopen goes over an object that was read to its end once more.
func (s *Scanner) Reopen(o *Object) {
	slices.Sort(o.Repeats)
	s.Pos, s.keys = o.start+1, s.keys[:o.first]
	s.depth++
	*o = Object{start: o.start, first: o.first, Repeats: o.Repeats, again: true}
}

// Next moves to the value of the next member; false at the end of the object.
func (s *Scanner) Next(o *Object) bool {
	for {
		c := s.Peek()
		if c == '}' {
			s.Pos++
			s.leave(o)
			return false
		}
		if o.N > 0 {
			if c != ',' {
				s.Unexpected("a comma or }")
				return false
			}
			s.Pos++
			c = s.Peek()
		}
		if c != '"' {
			s.Unexpected("a quoted key")
			return false
		}
		o.NameAt = s.Pos
		o.Name = s.Str()
		o.NameTo = s.Pos
		if s.Peek() != ':' {
			s.Unexpected("a colon")
			return false
		}
		s.Pos++
		o.N++
		if s.Odd != nil {
			s.add(o)
		}
		if !o.again || len(o.Repeats) == 0 || o.Repeats[0] != o.NameAt {
			return true
		}
		o.Repeats = o.Repeats[1:]
		s.Raw() // a later member of the same name counts
	}
}

// leave ends an object.
func (s *Scanner) leave(o *Object) {
	s.depth--
	o.last = len(s.keys)
	s.keys = s.keys[:o.first]
	if s.Free == 0 {
		s.ClosedFrom, s.ClosedTo = o.start, s.Pos
	}
}

// Keys yields the different keys of an object with their offsets, after it
// ended and before another one is read.
func (s *Scanner) Keys(o *Object) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, k := range s.keys[o.first:o.last] {
			if !yield(k.name, k.off) {
				return
			}
		}
	}
}

// add enters the current key and tells if it is there already.
func (s *Scanner) add(o *Object) {
	k := key{o.Name, keyHash(o.Name), o.NameAt}
	bit := uint64(1) << ((k.hash * 0x9E3779B97F4A7C15) >> 58)
	if o.seen&bit != 0 {
		if j := s.find(o, k); j >= 0 {
			s.odd(RepeatedKey, k.off, strings.Clone(k.name))
			if !o.again {
				o.Repeats = append(o.Repeats, s.keys[j].off)
			}
			s.keys[j].off = k.off
			return
		}
	}
	o.seen |= bit
	s.keys = append(s.keys, k)
	if o.index != nil {
		o.index[k.name] = len(s.keys) - 1
	}
}

// find returns the index of an earlier key of that name, or -1.
func (s *Scanner) find(o *Object, k key) int {
	keys := s.keys[o.first:]
	if len(keys) > smallObject {
		if o.index == nil {
			o.index = make(map[string]int, 2*len(keys))
			for j := range keys {
				o.index[keys[j].name] = o.first + j
			}
		}
		if j, ok := o.index[k.name]; ok {
			return j
		}
		return -1
	}
	for j := range keys {
		if keys[j].hash == k.hash && keys[j].name == k.name {
			return o.first + j
		}
	}
	return -1
}

// keyHash tells most keys apart: the first and the last bytes and the length.
func keyHash(s string) uint64 {
	var w [8]byte
	copy(w[:], s)
	h := binary.LittleEndian.Uint64(w[:])
	if len(s) < 8 {
		return h
	}
	copy(w[:], s[len(s)-8:])
	return h*31 ^ binary.LittleEndian.Uint64(w[:]) ^ uint64(len(s))
}
