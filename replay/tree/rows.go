package tree

// row is what is kept of every entry for as long as its file is read: 32
// bytes.
type row struct {
	id     uint64 // fingerprint of the id; 0 if the entry has none
	parent uint32 // None for a root
	line   uint32
	offset uint32 // low bits of the line's offset in the file
	record uint32 // which of the records of its line
	depth  uint32 // on the path that is being followed, see Linker.Enter
	high   uint8  // bits 32 to 39 of offset: files up to 1 TiB
	flags  flags
	marks  Mark
}

type flags uint8

const (
	hasChild flags = 1 << iota
	lost           // it names a parent that the file does not have
	forward        // its parent comes only later in the file
	chained        // it names no parent and follows its chain
	ringed         // it is its own ancestor
	onPath         // it is on the path that is being followed
)

const chunkRows = 256

// rows are the rows of a file in its order. They live in chunks: growing a
// slice of all of them would need twice the memory at times.
type rows struct {
	chunks []*[chunkRows]row
	n      uint32
}

func (t *rows) at(i uint32) *row { return &t.chunks[i/chunkRows][i%chunkRows] }

func (t *rows) add(r row) uint32 {
	i := t.n
	if i%chunkRows == 0 {
		t.chunks = append(t.chunks, new([chunkRows]row))
	}
	*t.at(i) = r
	t.n++
	return i
}

// Index finds numbers by a 64-bit key that is stored elsewhere. It costs 4
// bytes a slot, a Go map would cost about 40 an entry. Key must be set.
type Index struct {
	Key func(uint32) uint64

	slots []uint32 // number + 1; 0 is free
	used  int
}

// Find returns the number that was set last for a key, or None.
func (x *Index) Find(key uint64) uint32 {
	if len(x.slots) == 0 {
		return None
	}
	return x.slots[x.slot(key)] - 1 // a free slot gives None
}

// slot is where key stands or would stand.
func (x *Index) slot(key uint64) int {
	mask := len(x.slots) - 1
	at := int(key) & mask
	for x.slots[at] != 0 && x.Key(x.slots[at]-1) != key {
		at = (at + 1) & mask
	}
	return at
}

// Set makes i the number that key, which must be that of i, finds.
func (x *Index) Set(key uint64, i uint32) {
	if x.used*4 >= len(x.slots)*3 {
		x.grow()
	}
	at := x.slot(key)
	if x.slots[at] == 0 {
		x.used++
	}
	x.slots[at] = i + 1
}

func (x *Index) grow() {
	old := x.slots
	x.slots = make([]uint32, max(64, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			x.slots[x.slot(x.Key(s-1))] = s
		}
	}
}
