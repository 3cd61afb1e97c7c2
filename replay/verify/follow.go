package verify

import (
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// Notes about entries that are kept with their links.
const (
	wasLeft tree.Mark = 1 << iota // the file went on elsewhere while this was its tip
	owed                          // calls above it on its path had no result when it was written
)

// linked says how the entry hangs in the tree, for rules.
func (e *engine) linked(l tree.Link) Links {
	var s Links
	if l.Duplicate != none {
		s.Duplicate = e.links.Line(l.Duplicate)
	}
	if last := l.Index - 1; l.Named && l.Parent != none && l.Parent != last && e.links.HasMark(l.Parent, wasLeft) {
		s.Returns = e.links.Line(last)
	}
	return s
}

// leaves notes that the file goes on elsewhere than at its last entry. A lost
// parent is no sign that somebody went there.
func (e *engine) leaves(l tree.Link) {
	if l.Parent != none {
		e.links.SetMark(l.Parent, wasLeft, false)
	}
	if l.Index > 0 && l.Parent != l.Index-1 && !l.Lost {
		e.links.SetMark(l.Index-1, wasLeft, true)
	}
}

func (e *engine) dangling(l tree.Link, parent string) {
	e.file.Dangling = append(e.file.Dangling, Dangling{Place: e.pass.place(), Parent: strings.Clone(parent), first: l.Index == 0})
}

// follow goes on to an entry while the file is read, as long as every entry
// hangs on the one before it or is a root. What else there is, branches and
// parents that come later, is known when the file was read: then the whole tree
// is walked.
func (e *engine) follow(chain string, l tree.Link) (straight bool) {
	p := e.paths[chain]
	if p == nil {
		p = e.newPath(chain)
		e.paths[strings.Clone(chain)] = p
	}
	if e.path = p; l.Parent == p.tip() {
		if l.Lost {
			p.severed, p.partial = true, true
		}
		return true
	}
	if l.Parent != none {
		return false
	}
	en := e.pass.entry
	e.leaf(p.tip(), false)
	e.pass.entry, e.pass.index = en, l.Index
	e.Root()
	p.severed, p.partial = l.Lost, l.Lost
	return true
}

// walker follows the paths of a tree that was read.
type walker struct {
	*engine
	marks []mark
	live  uint32
	line  transcript.Line // of the entry that is being looked at
}

// mark is a state to return to.
type mark struct {
	path Path
	uses int
}

// walk follows all paths from the start.
func (e *engine) walk() error {
	e.found.paths, e.notes.paths, e.file.explained.paths = newFound(), nil, nil
	e.uses, e.unknown = newUses(), 0
	for _, p := range e.paths {
		for _, i := range p.entries {
			e.links.Leave(i)
		}
	}
	e.path = e.newPath("")
	w := &walker{engine: e, live: uint32(e.links.Len() - 1)}
	e.pass.line = &w.line
	return e.links.Walk(w.live, w)
}

func (w *walker) Mark() {
	w.marks = append(w.marks, mark{w.path.clone(), len(w.uses.list)})
	w.path.judged = w.path.made
}

func (w *walker) Rewind() {
	m := &w.marks[len(w.marks)-1]
	for _, i := range w.path.entries[len(m.path.entries):] {
		w.links.Leave(i)
	}
	*w.path = m.path
	w.uses.rewind(m.uses)
	w.marks = w.marks[:len(w.marks)-1]
}

func (w *walker) Enter(i uint32) error {
	en, err := w.entry(i)
	if err != nil {
		return err
	}
	if len(w.path.entries) == 0 && w.links.Lost(i) {
		w.path.severed, w.path.partial = true, true
	}
	// A rule that looks at another entry moves the reader on.
	w.line, w.pass.entry, w.pass.index = *w.again.Line(), en, i
	w.apply(en)
	return nil
}

func (w *walker) Leaf(i uint32) { w.leaf(i, i == w.live) }

// Root begins a new path.
func (e *engine) Root() {
	for _, i := range e.path.entries {
		e.links.Leave(i)
	}
	e.uses.rewind(0)
	e.path.begin(e)
}

// begin makes p the path before its first entry.
func (p *Path) begin(e *engine) {
	*p = Path{chain: p.chain, entries: p.entries[:0], turn: &Turn{Place: Place{index: none}}}
	p.facts = replay.NewFacts(func(id string) (int, bool) { return e.links.FirstOnPath(id, p.entries) })
	p.facts.ApplyHeader(e.file.Header)
	for i := range e.checks {
		if e.checks[i].Memory != nil {
			p.memory = append(p.memory, e.checks[i].Memory())
		}
	}
}

func (e *engine) newPath(chain string) *Path {
	p := &Path{chain: e.links.Fingerprint(chain)}
	p.begin(e)
	return p
}
