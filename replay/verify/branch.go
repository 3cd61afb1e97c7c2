package verify

import (
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// snapshotEvery is how many entries lie between two new snapshots of a path: a
// fork near the tip reads at most so many entries again. A snapshot is about a
// kilobyte.
const snapshotEvery = 128

// maxSnapshots is how many snapshots are kept: beyond it, every second one is
// dropped. What is read again then grows with the file, to a few thousand
// entries in one of 10 GB, and a place that is returned to has snapshots near
// it again.
const maxSnapshots = 512

// keptPaths is how many paths are kept whole beside the snapshots: tips that
// were left and places where the history forked, the latest ones.
const keptPaths = 32

// branches remembers the states that the file may return to.
type branches struct {
	snapshots map[uint32]*Path
	taken     []uint32 // keys of snapshots, oldest first
	kept      map[uint32]*Path
	order     []uint32                 // of kept, oldest first
	leaves    map[uint32][]conditional // what the end of a left tip gave, while it is one
}

func newBranches() branches {
	return branches{
		snapshots: make(map[uint32]*Path),
		kept:      make(map[uint32]*Path),
		leaves:    make(map[uint32][]conditional),
	}
}

func (b *branches) snapshot(i uint32, p *Path) {
	if b.snapshots[i] != nil {
		return
	}
	b.snapshots[i] = p.clone()
	b.taken = append(b.taken, i)
	if len(b.taken) < maxSnapshots {
		return
	}
	left := b.taken[:0]
	for k, at := range b.taken {
		if k%2 == 0 {
			delete(b.snapshots, at)
		} else {
			left = append(left, at)
		}
	}
	b.taken = left
}

// keep remembers the path to entry i; p must not change any more.
func (b *branches) keep(i uint32, p *Path) {
	if b.kept[i] == nil {
		if len(b.order) == keptPaths {
			delete(b.kept, b.order[0])
			b.order = slices.Delete(b.order, 0, 1)
		}
		b.order = append(b.order, i)
	}
	b.kept[i] = p
}

// state returns what is kept of the path to entry i, nil if nothing is.
func (b *branches) state(i uint32) *Path {
	if p := b.kept[i]; p != nil {
		return p
	}
	return b.snapshots[i]
}

// link is where an entry hangs.
type link struct {
	id, parentID uint64
	parent       uint32 // none for a root
	duplicate    uint32 // the last entry before with the same id, or none
	named        bool   // the entry names a parent
	chained      bool   // the entry follows the one before it, without a link
}

// link finds the parent of an entry. Entries without any link follow the last
// one of their chain, as in version 1 and in event logs. A parent that is the
// session itself is a root: some programs write it so.
func (e *engine) link(chain string, en *transcript.Entry) link {
	l := link{id: e.table.fingerprint(en.ID), parent: none, duplicate: none}
	l.duplicate = e.table.find(l.id)
	switch {
	case en.ID == "" && en.ParentID == "":
		l.chained = true
		if p := e.pathOf(chain); p != nil {
			l.parent = p.tip
		}
	case en.ParentID == "", e.file.Header != nil && en.ParentID == e.file.Header.ID:
	default:
		l.named, l.parentID = true, e.table.fingerprint(en.ParentID)
		l.parent = e.table.find(l.parentID)
		if l.parent == none {
			// Some programs hang a result on the call instead of the entry.
			l.parent = e.uses.latest(useKey(useCall, l.parentID))
		}
		if l.parent == none {
			e.dangling(en, l.parentID)
		}
	}
	return l
}

func (e *engine) pathOf(chain string) *Path {
	if chain == e.chain {
		return e.path
	}
	return e.chains[chain]
}

func (e *engine) dangling(en *transcript.Entry, parentID uint64) {
	d := Dangling{Place: e.pass.place(), Parent: strings.Clone(en.ParentID), id: parentID, first: e.table.n == 0}
	d.index = e.table.n
	e.file.Dangling = append(e.file.Dangling, d)
}

// links says how the entry hangs in the tree, for rules.
func (e *engine) links(l link) Links {
	var s Links
	if l.duplicate != none {
		s.Duplicate = int(e.table.row(l.duplicate).line)
	}
	if tip := e.path.tip; l.named && l.parent != none && l.parent != tip && tip != none &&
		e.table.row(l.parent).flags&wasLeft != 0 {
		s.Returns = int(e.table.row(tip).line)
	}
	return s
}

// follow makes the path that ends at the entry's parent the current one.
func (e *engine) follow(chain string, l link) {
	if chain != e.chain {
		e.chains[e.chain] = e.path
		e.path, e.chain = e.chains[chain], chain
		delete(e.chains, chain)
		if e.path == nil {
			e.path = e.newPath(false)
		}
	}
	if l.parent == e.path.tip {
		if l.parent == none && l.named {
			e.path = e.newPath(true)
		}
		return
	}
	e.leave()
	if l.parent == none && l.named {
		// A lost parent is no sign that somebody went elsewhere.
		e.table.row(e.path.tip).flags &^= wasLeft
	}
	if l.parent == none {
		e.path = e.newPath(l.named)
		return
	}
	delete(e.branch.leaves, l.parent)
	e.table.row(l.parent).flags &^= wasLeft
	e.path = e.pathTo(l.parent)
}

// leave turns away from the tip. It may be a leaf, so what its end gives is
// kept until the file returns to it.
func (e *engine) leave() {
	tip := e.path.tip
	if tip == none {
		return
	}
	e.table.row(tip).flags |= wasLeft
	en, index := e.pass.entry, e.pass.index
	e.branch.leaves[tip] = e.leafFindings(false)
	if len(e.branch.leaves[tip]) == 0 {
		delete(e.branch.leaves, tip)
	}
	e.pass.entry, e.pass.index = en, index
	e.branch.keep(tip, e.path)
}

// pathTo gives a path that ends at entry i: from what is kept at or above it,
// and the entries in between once more. Their findings are known already.
func (e *engine) pathTo(i uint32) *Path {
	var again []uint32
	at := i
	for at != none && e.branch.state(at) == nil {
		again = append(again, at)
		at = e.table.row(at).parent
	}
	p := e.startOf(i, at)
	en, index := e.pass.entry, e.pass.index
	e.path, e.pass.muted = p, true
	for _, at := range slices.Backward(again) {
		en, err := e.entry(at)
		if err != nil {
			panic(rereadError{err})
		}
		e.pass.index = at
		e.apply(en)
	}
	e.pass.muted = false
	e.pass.entry, e.pass.index = en, index
	if len(again) > 0 {
		e.branch.keep(i, p.clone())
	}
	return p
}

// startOf gives the state to start from: a copy of the one kept at an entry,
// or the empty one.
func (e *engine) startOf(i, at uint32) *Path {
	if at != none {
		return e.branch.state(at).clone()
	}
	root := i
	for p := e.table.row(root).parent; p != none; p = e.table.row(root).parent {
		root = p
	}
	return e.newPath(e.table.row(root).flags&severed != 0)
}
