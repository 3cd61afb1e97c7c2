package verify

import "hash/maphash"

// none is the index of no entry.
const none = ^uint32(0)

// row is what is kept of every entry of a file for as long as the file is
// checked: 32 bytes.
type row struct {
	id     uint64 // fingerprint of the id; 0 if the entry has none
	parent uint32 // none for a root
	jump   uint32 // an ancestor further up; see table.add
	line   uint32
	offset uint32 // low bits of the line's offset in the file
	record uint32 // which of the records of its line
	high   uint8  // bits 32 to 39 of offset: files up to 1 TiB
	span   uint8  // the jump skips 2^span-1 entries
	flags  flags
}

type flags uint8

const (
	hasChild flags = 1 << iota
	wasLeft        // the file went on elsewhere while this was its tip
	owed           // calls above it on its path had no result when it was written
	severed        // it names a parent that was not there, so its path starts at a gap
)

func (r *row) at() int64 { return int64(r.high)<<32 | int64(r.offset) }

const chunkRows = 256

// table has a row for every entry, in file order, so that a parent's index is
// smaller than its children's. Rows live in chunks: growing a slice of all of
// them would need twice the memory at times.
type table struct {
	seed   maphash.Seed
	chunks []*[chunkRows]row
	n      uint32
	ids    index // entries by the fingerprint of their id, the last definition wins
}

func newTable(seed maphash.Seed) *table {
	t := &table{seed: seed}
	t.ids.key = func(i uint32) uint64 { return t.row(i).id }
	return t
}

func (t *table) row(i uint32) *row { return &t.chunks[i/chunkRows][i%chunkRows] }

// fingerprint hashes an id to 64 bits under a seed that is new in every
// process. Two of a million ids meet with a chance of 3 in 100 million, and
// nobody can write a file in which they do.
func (t *table) fingerprint(id string) uint64 {
	if id == "" {
		return 0
	}
	return max(1, maphash.String(t.seed, id))
}

// find returns the entry with an id, or none.
func (t *table) find(id uint64) uint32 {
	if id == 0 {
		return none
	}
	return t.ids.find(id)
}

// add appends an entry. Its jump pointer makes a skew-binary tree of the
// ancestors (Myers 1983), which finds any of them in logarithmic time.
func (t *table) add(r row) uint32 {
	i := t.n
	if i%chunkRows == 0 {
		t.chunks = append(t.chunks, new([chunkRows]row))
	}
	r.jump = none
	if r.parent != none {
		p := t.row(r.parent)
		p.flags |= hasChild
		r.jump, r.span = r.parent, 1
		if p.jump != none && t.row(p.jump).span == p.span {
			r.jump, r.span = t.row(p.jump).jump, p.span+1
		}
	}
	*t.row(i) = r
	t.n++
	if r.id != 0 {
		t.ids.set(r.id, i)
	}
	return i
}

// isAncestor reports whether a is b or above it. Indexes fall towards the
// root, so the walk can compare them.
func (t *table) isAncestor(a, b uint32) bool {
	for b != none && b > a {
		if r := t.row(b); r.jump != none && r.jump >= a {
			b = r.jump
		} else {
			b = r.parent
		}
	}
	return a == b
}

// towards returns the child of a on the way down to b, which must be below a;
// none if b is a.
func (t *table) towards(a, b uint32) uint32 {
	for b != none && b > a {
		r := t.row(b)
		switch {
		case r.jump != none && r.jump > a:
			b = r.jump
		case r.parent == a:
			return b
		default:
			b = r.parent
		}
	}
	return none
}

// index finds rows by a 64-bit key that the rows themselves hold. It costs 4
// bytes a slot, a Go map would cost about 40 a row.
type index struct {
	key   func(uint32) uint64
	slots []uint32 // row + 1; 0 is free
	used  int
}

func (x *index) find(key uint64) uint32 {
	if len(x.slots) == 0 {
		return none
	}
	return x.slots[x.slot(key)] - 1 // a free slot gives none
}

// slot is where key stands or would stand.
func (x *index) slot(key uint64) int {
	mask := len(x.slots) - 1
	at := int(key) & mask
	for x.slots[at] != 0 && x.key(x.slots[at]-1) != key {
		at = (at + 1) & mask
	}
	return at
}

// set makes row i the one that key finds.
func (x *index) set(key uint64, i uint32) {
	if x.used*4 >= len(x.slots)*3 {
		x.grow()
	}
	at := x.slot(key)
	if x.slots[at] == 0 {
		x.used++
	}
	x.slots[at] = i + 1
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]uint32, max(64, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			x.slots[x.slot(x.key(s-1))] = s
		}
	}
}
