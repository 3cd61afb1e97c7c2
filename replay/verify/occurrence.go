package verify

// occurrence is one use of a key (a call id, a response id, …) by an entry.
type occurrence struct {
	key   uint64
	entry uint32
	prev  uint32 // the use of the key before this one in the file, or none
}

const chunkUses = 256

// occurrences remembers every use of a key in a file, 16 bytes each, and finds
// the latest one on a path.
//
// The search goes backwards through the file's uses of the key, so it takes
// one step in a file without branches, and as many as there are uses on other
// branches in one with them.
type occurrences struct {
	table  *table
	chunks []*[chunkUses]occurrence
	n      uint32
	keys   index
}

func newOccurrences(t *table) *occurrences {
	o := &occurrences{table: t}
	o.keys.key = func(i uint32) uint64 { return o.at(i).key }
	return o
}

func (o *occurrences) at(i uint32) *occurrence { return &o.chunks[i/chunkUses][i%chunkUses] }

// add notes that entry uses key. A use that is known already is not noted
// again: a path may be applied more than once.
func (o *occurrences) add(key uint64, entry uint32) {
	prev := o.keys.find(key)
	if prev != none && o.at(prev).entry >= entry {
		return
	}
	if o.n%chunkUses == 0 {
		o.chunks = append(o.chunks, new([chunkUses]occurrence))
	}
	*o.at(o.n) = occurrence{key: key, entry: entry, prev: prev}
	o.keys.set(key, o.n)
	o.n++
}

// onPath returns the last entry at or above tip that uses key, or none.
func (o *occurrences) onPath(key uint64, tip uint32) uint32 {
	if tip == none {
		return none
	}
	for i := o.keys.find(key); i != none; i = o.at(i).prev {
		if e := o.at(i).entry; o.table.isAncestor(e, tip) {
			return e
		}
	}
	return none
}

// latest returns the last entry of the file so far that uses key, or none.
func (o *occurrences) latest(key uint64) uint32 {
	if i := o.keys.find(key); i != none {
		return o.at(i).entry
	}
	return none
}
