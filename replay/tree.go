package replay

import (
	"fmt"
	"iter"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// Tree is a whole session in memory: its records in file order and how they
// hang together.
type Tree struct {
	Header  *transcript.Entry  // nil if the file has none
	Entries []transcript.Entry // without headers; those of damaged lines as far as they could be recovered

	links *tree.Linker
	lines int
}

// NewerFormatError says that a file was written by a later turnlog, whose
// entries this one could misread.
type NewerFormatError struct{ Format int }

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("the transcript has format %d of turnlog, this turnlog reads up to %d: use a newer turnlog",
		e.Format, transcript.FormatVersion)
}

// Read reads the lines of a session. Damaged lines are passed over: verify
// reports them. The error is an I/O error or a *NewerFormatError.
func Read(lines iter.Seq2[transcript.Line, error]) (*Tree, error) {
	return ReadParts(tree.Sessions(lines))
}

// ReadParts reads the records of a file of any format, as package foreign gives
// them.
func ReadParts(parts iter.Seq2[tree.Part, error]) (*Tree, error) {
	t := &Tree{links: tree.New()}
	for p, err := range parts {
		if err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		if p.Line != nil {
			t.lines = p.Line.No
		}
		for i := range p.Records {
			if err := t.add(&p.Records[i]); err != nil {
				return nil, err
			}
		}
	}
	t.links.Settle()
	return t, nil
}

func (t *Tree) add(r *tree.Record) error {
	e := r.Entry
	if e.Type == transcript.TypeSession {
		if err := CheckFormat(e); err != nil {
			return err
		}
		if t.Header == nil {
			t.Header = e
		}
		return nil
	}
	t.links.Add(r)
	t.Entries = append(t.Entries, *e)
	t.Entries[len(t.Entries)-1].ID = r.ID()
	return nil
}

// CheckFormat says whether the entries behind a header can be read: the error
// is a *NewerFormatError.
func CheckFormat(header *transcript.Entry) error {
	if h := header.Header; h != nil && h.Generator != nil && h.Generator.Format > transcript.FormatVersion {
		return &NewerFormatError{Format: h.Generator.Format}
	}
	return nil
}

// Find returns the place of an entry in Entries; the last one if the file uses
// the id several times.
func (t *Tree) Find(id string) (int, bool) { return indexOf(t.links.Find(id)) }

func indexOf(i uint32) (int, bool) {
	if i == tree.None {
		return -1, false
	}
	return int(i), true
}

// Parent returns the place of the parent of entry i, -1 if it is a root or its
// parent is not in the file.
func (t *Tree) Parent(i int) int {
	p, _ := indexOf(t.links.Parent(uint32(i)))
	return p
}

// Path returns the places from the root to entry i. A ring of parents ends it
// where it closes.
func (t *Tree) Path(i int) []int {
	if i < 0 {
		return nil
	}
	var path []int
	for _, at := range t.links.Path(uint32(i)) {
		path = append(path, int(at))
	}
	return path
}

// State folds the path to entry i; -1 gives the state before the first entry.
func (t *Tree) State(i int) *State {
	s := t.start()
	for _, at := range t.Path(i) {
		s.Apply(&t.Entries[at])
	}
	return s
}

func (t *Tree) start() *State {
	s := new(State)
	if t.Header != nil {
		s.Apply(t.Header)
	}
	return s
}

// All yields the state that each entry as leaf implies, in file order. Shared
// prefixes are folded once. The state is only valid until the next one.
func (t *Tree) All() iter.Seq2[int, *State] {
	return func(yield func(int, *State) bool) {
		kept := t.forkPoints()
		for i, s := 0, t.start(); i < len(t.Entries); i++ {
			s = t.child(s, i, kept)
			if !yield(i, s) {
				return
			}
		}
	}
}

// child gives the state at entry i, made from that of the entry before it in
// the file where that is the parent.
func (t *Tree) child(before *State, i int, kept map[int]*State) *State {
	s, p := before, t.Parent(i)
	switch {
	case kept[i] != nil: // it was wanted by a child that stands before it
		return kept[i].Clone()
	case t.links.InRing(uint32(i)):
		return t.State(i)
	case p < 0:
		s = t.start()
	case p != i-1:
		s = t.keep(p, kept).Clone()
	}
	s.Apply(&t.Entries[i])
	if _, ok := kept[i]; ok {
		kept[i] = s.Clone()
	}
	return s
}

// keep gives the state at a fork point, and those above it that are not there
// yet.
func (t *Tree) keep(i int, kept map[int]*State) *State {
	var again []int
	at := i
	for ; at >= 0 && kept[at] == nil; at = t.Parent(at) {
		if t.links.InRing(uint32(at)) {
			return t.State(i)
		}
		again = append(again, at)
	}
	s := t.start()
	if at >= 0 {
		s = kept[at].Clone()
	}
	for k := len(again) - 1; k >= 0; k-- {
		s.Apply(&t.Entries[again[k]])
		if _, ok := kept[again[k]]; ok {
			kept[again[k]] = s.Clone()
		}
	}
	return s
}

// forkPoints marks the entries whose state is needed again later.
func (t *Tree) forkPoints() map[int]*State {
	kept := make(map[int]*State)
	for i := range t.Entries {
		if p := t.Parent(i); p >= 0 && p != i-1 {
			kept[p] = nil
		}
	}
	return kept
}

// Knowledge says how well the file tells which tools the model had.
func (t *Tree) Knowledge() Knowledge {
	for i := range t.Entries {
		if Declares(&t.Entries[i]) {
			return Exact
		}
	}
	return Unknown
}

// Declares reports whether an entry states or changes which tools are declared.
func Declares(e *transcript.Entry) bool {
	m := e.Message
	if e.Compaction != nil {
		m = e.Compaction.SystemMessage
	}
	return m != nil && m.Role == transcript.System && len(m.ToolsAdded)+len(m.ToolsRemoved) > 0
}
