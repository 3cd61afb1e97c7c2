package transcript

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"
)

// key is a name of an open object.
type key struct {
	name string
	hash uint64
	off  int
}

// object is the state of reading one object, member by member:
//
//	for o := p.open(); p.pass(&o); {
//		for p.next(&o) {
//			switch o.name { … }
//		}
//	}
//
// pass goes over an object a second time in two rare cases, so that members
// may come in any order and of a repeated key the last counts, as in
// JavaScript: when the member that says what the others mean (type, role)
// stood behind one of them, and when a key was repeated.
type object struct {
	name string // of the current member
	kind string // value of the member that says what the others mean

	keeps bool    // whether extra is wanted
	extra []Field // members that are not interpreted

	start  int
	first  int // its first key in parser.keys
	n      int
	notes  int // notes before it
	passes int
	late   bool // kind was found late
	odd    bool // has a member that is not interpreted

	seen   uint64         // a bit for each key so far
	index  map[string]int // into parser.keys, for big objects
	repeat []int          // offsets of keys that are repeated later
}

// smallObject is how many keys are compared one by one.
const smallObject = 32

// open enters the object at the position.
func (p *parser) open() object {
	o := object{start: p.i, first: len(p.keys), notes: len(p.notes)}
	p.i++
	p.enter()
	return o
}

// pass starts the next pass over an object, see there.
func (p *parser) pass(o *object) bool {
	o.passes++
	switch {
	case p.failed:
		return false
	case o.passes == 1:
		return true
	case o.passes == 2 && (o.late || len(o.repeat) > 0):
		slices.Sort(o.repeat)
		p.i, p.keys, p.notes = o.start+1, p.keys[:o.first], p.notes[:o.notes]
		o.n, o.seen, o.index, o.extra = 0, 0, nil, nil
		return true
	}
	if o.odd {
		p.checkFolding(o)
	}
	p.close(o)
	return false
}

// close leaves an object that was read to its end.
func (p *parser) close(o *object) {
	if p.failed {
		return
	}
	p.depth--
	p.keys = p.keys[:o.first]
	if p.free == 0 {
		p.closedFrom, p.closedTo = o.start, p.i
	}
}

// next moves to the value of the next member; false at the end of the object.
func (p *parser) next(o *object) bool {
	for {
		c := p.peek()
		if c == '}' {
			p.i++
			return false
		}
		if o.n > 0 {
			if c != ',' {
				p.unexpected("a comma or }")
				return false
			}
			p.i++
			c = p.peek()
		}
		if c != '"' {
			p.unexpected("a quoted key")
			return false
		}
		off := p.i
		o.name = p.str()
		if p.peek() != ':' {
			p.unexpected("a colon")
			return false
		}
		p.i++
		o.n++
		if o.passes < 2 {
			p.add(o, off)
			return true
		}
		p.add(o, off)
		if len(o.repeat) == 0 || o.repeat[0] != off {
			return true
		}
		o.repeat = o.repeat[1:]
		p.raw() // a later member of the same name counts
	}
}

// add enters the current key and notes it if it is there already.
func (p *parser) add(o *object, off int) {
	k := key{o.name, keyHash(o.name), off}
	bit := uint64(1) << ((k.hash * 0x9E3779B97F4A7C15) >> 58)
	if o.seen&bit != 0 {
		if j := p.find(o, k); j >= 0 {
			p.note(DuplicateKey, off, strings.Clone(o.name))
			if o.passes < 2 {
				o.repeat = append(o.repeat, p.keys[j].off)
			}
			p.keys[j].off = off
			return
		}
	}
	o.seen |= bit
	p.keys = append(p.keys, k)
	if o.index != nil {
		o.index[k.name] = len(p.keys) - 1
	}
}

// find returns the index of an earlier key of that name, or -1.
func (p *parser) find(o *object, k key) int {
	keys := p.keys[o.first:]
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
	if len(s) < 8 {
		copy(w[:], s)
		return binary.LittleEndian.Uint64(w[:])
	}
	copy(w[:], s)
	h := binary.LittleEndian.Uint64(w[:])
	copy(w[:], s[len(s)-8:])
	return h*31 ^ binary.LittleEndian.Uint64(w[:]) ^ uint64(len(s))
}

// checkFolding notes keys that differ only by case. Readers that match names
// without case (encoding/json does) take one for the other.
func (p *parser) checkFolding(o *object) {
	keys := p.keys[o.first:]
	names := make(map[string]string, len(keys))
	for i := range keys {
		folded := strings.Map(foldRune, keys[i].name)
		if _, ok := names[folded]; ok {
			p.note(FoldedKey, keys[i].off, strings.Clone(keys[i].name))
		}
		names[folded] = keys[i].name
	}
}

// foldRune maps all runes that differ only by case to one of them.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// kindField reads the current member, which says what the others mean. matters
// reports whether a kind gives them a meaning: only then is it worth another
// pass that some of them came first.
func (p *parser) kindField(o *object, matters func(kind string) bool) string {
	kind := ""
	if p.peek() == '"' {
		kind = known(p.str())
	} else {
		p.misfit(o)
	}
	if o.passes < 2 && o.n > 1 && (matters(kind) || o.kind != kind) {
		o.late = true
	}
	o.kind = kind
	return kind
}

// unknown passes over a member that is not interpreted.
func (p *parser) unknown(o *object) {
	p.free++
	p.misfit(o)
	p.free--
}

// misfit passes over a member whose value has another type than the format
// says: the typed field stays zero.
func (p *parser) misfit(o *object) {
	o.odd = true
	name := o.name
	v := p.value()
	if o.keeps && !p.failed {
		o.extra = append(o.extra, Field{Name: name, Value: v})
	}
}
