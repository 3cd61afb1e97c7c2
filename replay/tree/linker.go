// Package tree says how the entries of a transcript hang together: which entry
// is the parent of which, and which path leads to an entry.
//
// There is one implementation for readers that stream and for those that hold
// a whole file. A [Linker] takes records in file order and answers at once with
// what can be known by then ([Link]); [Linker.Settle] makes the whole file the
// ground: a parent that comes later in the file is found, and of several
// entries with one id the last one counts, as in pi 1.6.0, which looks parents
// up in a map of the whole file.
//
// A linker keeps a row of 32 bytes for every entry, and the table that finds
// rows by id; it holds on to no line.
package tree

import (
	"hash/maphash"
	"slices"
	"sort"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// None is the index of no entry.
const None = ^uint32(0)

// Record is an entry on its way to the linker.
type Record struct {
	Entry *transcript.Entry

	// Follows says that the entry names no parent and follows the last entry of
	// its chain. A file that has several sequences names them.
	Follows bool
	Chain   string

	// Name stands for the id of an entry that has none, "" if nothing does.
	Name string

	Offset int64 // of the line in the file
	N      int   // which of the records of its line, from 0
}

// ID is the entry's id, or the name that stands for it.
func (r *Record) ID() string {
	if r.Entry.ID != "" {
		return r.Entry.ID
	}
	return r.Name
}

// Link is how an entry hangs, as far as the file has been read.
type Link struct {
	Index     uint32 // of the entry, from 0
	Parent    uint32 // None for a root, and as long as the parent is not known
	Duplicate uint32 // the last entry before that has the same id, or None
	Named     bool   // the entry names a parent
	Lost      bool   // the file does not have that parent so far
}

// Missing is an entry whose parent was not there when it was written.
type Missing struct {
	Index  uint32
	Parent string // the id that it names

	id uint64
}

// Linker links the entries of a file. The zero value is not ready: see [New].
type Linker struct {
	seed    maphash.Seed
	session uint64 // of the session, which some programs name as the parent of roots
	rows    rows
	ids     Index // entries by the fingerprint of their id, the last definition wins
	tips    map[string]uint32
	missing []Missing
	doubled bool // some id is used twice
}

// New returns a linker for a file.
func New() *Linker {
	l := &Linker{seed: maphash.MakeSeed(), tips: make(map[string]uint32)}
	l.ids.Key = func(i uint32) uint64 { return l.rows.at(i).id }
	return l
}

// Fingerprint hashes an id to 64 bits under a seed that is new for every
// linker; 0 stands for no id. Two of a million ids meet with a chance of 3 in
// 100 million, and nobody can write a file in which they do.
func (l *Linker) Fingerprint(id string) uint64 {
	if id == "" {
		return 0
	}
	return max(1, maphash.String(l.seed, id))
}

// Seed is that of the linker's hashes.
func (l *Linker) Seed() maphash.Seed { return l.seed }

// Session names the session of the file.
func (l *Linker) Session(id string) { l.session = l.Fingerprint(id) }

// Add takes the next entry of the file, which is no header.
func (l *Linker) Add(r *Record) Link {
	e := r.Entry
	id := l.Fingerprint(r.ID())
	link := Link{Index: l.rows.n, Parent: None, Duplicate: l.find(id)}
	parent := l.Fingerprint(e.ParentID)
	switch {
	case r.Follows:
		if tip, ok := l.tips[r.Chain]; ok {
			link.Parent = tip
		}
	case parent == 0:
	default:
		if link.Parent = l.find(parent); link.Parent == None && parent == l.session {
			break // some programs name the session as the parent of a root
		}
		link.Named = true
		if link.Lost = link.Parent == None; link.Lost {
			l.missing = append(l.missing, Missing{Index: link.Index, Parent: strings.Clone(e.ParentID), id: parent})
		}
	}
	i := l.rows.add(row{
		id: id, parent: link.Parent, line: uint32(e.Line), record: uint32(r.N),
		offset: uint32(r.Offset), high: uint8(r.Offset >> 32),
	})
	if link.Parent != None {
		l.rows.at(link.Parent).flags |= hasChild
	}
	if link.Lost {
		l.rows.at(i).flags |= lost
	}
	if r.Follows {
		l.rows.at(i).flags |= chained
	}
	if id != 0 {
		l.doubled = l.doubled || link.Duplicate != None
		l.ids.Set(id, i)
	}
	l.setTip(r.Chain, i)
	return link
}

func (l *Linker) setTip(chain string, i uint32) {
	if _, ok := l.tips[chain]; !ok {
		chain = strings.Clone(chain)
	}
	l.tips[chain] = i
}

func (l *Linker) find(id uint64) uint32 {
	if id == 0 {
		return None
	}
	return l.ids.Find(id)
}

// Find returns the last entry so far with an id, or None.
func (l *Linker) Find(id string) uint32 { return l.find(l.Fingerprint(id)) }

// Len is the number of entries.
func (l *Linker) Len() int { return int(l.rows.n) }

// Parent returns the parent of an entry, None for a root.
func (l *Linker) Parent(i uint32) uint32 { return l.rows.at(i).parent }

// Line returns the line of an entry.
func (l *Linker) Line(i uint32) int { return int(l.rows.at(i).line) }

// Place returns the offset of an entry's line in the file, and which of the
// records of the line it is.
func (l *Linker) Place(i uint32) (offset int64, record int) {
	r := l.rows.at(i)
	return int64(r.high)<<32 | int64(r.offset), int(r.record)
}

// Lost reports whether an entry names a parent that the file does not have.
func (l *Linker) Lost(i uint32) bool { return l.rows.at(i).flags&lost != 0 }

// Follows reports whether an entry names no parent and follows its chain.
func (l *Linker) Follows(i uint32) bool { return l.rows.at(i).flags&chained != 0 }

// HasChild reports whether an entry is the parent of another.
func (l *Linker) HasChild(i uint32) bool { return l.rows.at(i).flags&hasChild != 0 }

// Missing returns the entries whose parents were not there when they were
// written, in file order.
func (l *Linker) Missing() []Missing { return l.missing }

// Later returns the entry that turned out to be the missing parent, or None.
func (l *Linker) Later(m *Missing) uint32 { return l.find(m.id) }

// Leaves counts the entries without children, as far as the file was read.
func (l *Linker) Leaves() int {
	n := 0
	for i := range l.rows.n {
		if !l.HasChild(i) {
			n++
		}
	}
	return n
}

// Settle makes links what the whole file says and reports whether that moved
// an entry: then what was concluded from earlier answers of Add is void.
func (l *Linker) Settle() (moved bool) {
	for i := range l.missing {
		m := &l.missing[i]
		if p := l.find(m.id); p != None {
			r := l.rows.at(m.Index)
			r.parent, r.flags, moved = p, r.flags&^lost|forward, true
		}
	}
	if l.doubled {
		for i := range l.rows.n {
			r := l.rows.at(i)
			if r.parent == None || r.flags&chained != 0 {
				continue
			}
			if p := l.find(l.rows.at(r.parent).id); p != None && p != r.parent {
				r.parent, moved = p, true
			}
		}
	}
	if moved {
		l.relink()
	}
	return moved
}

// relink renews what follows from the parents.
func (l *Linker) relink() {
	for i := range l.rows.n {
		l.rows.at(i).flags &^= hasChild
	}
	for i := range l.rows.n {
		if p := l.Parent(i); p != None {
			l.rows.at(p).flags |= hasChild
		}
	}
	l.findRings()
}

// InRing reports whether an entry is its own ancestor. It is known after
// [Linker.Settle].
func (l *Linker) InRing(i uint32) bool { return l.rows.at(i).flags&ringed != 0 }

// findRings marks the entries whose parents lead back to them.
func (l *Linker) findRings() {
	walk := make([]uint32, l.rows.n) // which walk came by first
	for i := range l.rows.n {
		at := i
		for at != None && walk[at] == 0 {
			walk[at] = i + 1
			at = l.Parent(at)
		}
		// Meeting its own track closes a ring; an older track was looked at.
		for at != None && walk[at] == i+1 && !l.InRing(at) {
			l.rows.at(at).flags |= ringed
			at = l.Parent(at)
		}
	}
}

// Rings shows the rings that parents form in the order of the file, each from
// its lowest entry on. A ring that only a reused id closes is left out.
func (l *Linker) Rings(show func(ring []uint32)) {
	seen := make(map[uint32]bool)
	for i := range l.rows.n {
		if !l.InRing(i) || seen[i] {
			continue
		}
		var ring []uint32
		for at := i; !seen[at]; at = l.Parent(at) {
			seen[at] = true
			ring = append(ring, at)
		}
		if slices.ContainsFunc(ring, func(i uint32) bool { return l.rows.at(i).flags&forward != 0 }) {
			slices.Sort(ring)
			show(ring)
		}
	}
}

// FirstOnPath returns the place of the first entry with an id on the path that
// is being followed, which is entries.
func (l *Linker) FirstOnPath(id string, entries []uint32) (depth int, ok bool) {
	key := l.Fingerprint(id)
	if !l.doubled || key == 0 {
		return l.OnPath(l.find(key))
	}
	for depth, i := range entries {
		if l.rows.at(i).id == key {
			return depth, true
		}
	}
	return 0, false
}

// Mark is a note about an entry, for those who follow paths.
type Mark uint8

// SetMark notes m about an entry, or takes it back.
func (l *Linker) SetMark(i uint32, m Mark, on bool) {
	if r := l.rows.at(i); on {
		r.marks |= m
	} else {
		r.marks &^= m
	}
}

// HasMark reports whether m was noted about an entry.
func (l *Linker) HasMark(i uint32, m Mark) bool { return l.rows.at(i).marks&m != 0 }

// OffsetOf finds the offset of a line that holds an entry.
func (l *Linker) OffsetOf(line int) (offset int64, ok bool) {
	i := sort.Search(l.Len(), func(i int) bool { return l.Line(uint32(i)) >= line })
	if i == l.Len() || l.Line(uint32(i)) != line {
		return 0, false
	}
	offset, _ = l.Place(uint32(i))
	return offset, true
}

// Path returns the entries from the root to entry i. A ring of parents ends it
// where it closes.
func (l *Linker) Path(i uint32) []uint32 {
	var path []uint32
	seen := make(map[uint32]bool)
	for ; i != None && !seen[i]; i = l.Parent(i) {
		if l.InRing(i) {
			seen[i] = true
		}
		path = append(path, i)
	}
	slices.Reverse(path)
	return path
}
