package replay

import (
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Tree is a whole session in memory: its records in file order and how they
// hang together.
type Tree struct {
	Header  *transcript.Entry  // nil if the file has none
	Entries []transcript.Entry // without headers; those of damaged lines as far as they could be recovered

	parents []int        // index into Entries of each entry's parent, -1 for roots
	rings   map[int]bool // entries that are their own ancestors
	index   map[string]int
	lines   int
}

// NewerFormatError says that a file was written by a later turnlog, whose
// entries this one could misread.
type NewerFormatError struct{ Format int }

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("the transcript has format %d of turnlog, this turnlog reads up to %d: use a newer turnlog",
		e.Format, transcript.FormatVersion)
}

// Read reads a session. Damaged lines are passed over: verify reports them. The
// error is an I/O error or a *NewerFormatError.
func Read(lines iter.Seq2[transcript.Line, error]) (*Tree, error) {
	t := &Tree{index: make(map[string]int)}
	linear := linearizer{}
	for l, err := range lines {
		if err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		t.lines = l.No
		for i := range l.Records {
			e := &l.Records[i]
			if err := t.add(e, &linear); err != nil {
				return nil, err
			}
		}
	}
	t.link()
	return t, nil
}

func (t *Tree) add(e *transcript.Entry, linear *linearizer) error {
	if e.Type == transcript.TypeSession {
		if g := generator(e); g != nil && g.Format > transcript.FormatVersion {
			return &NewerFormatError{Format: g.Format}
		}
		if t.Header == nil {
			t.Header = e
		}
		linear.header(e)
		return nil
	}
	linear.entry(e)
	if e.ID != "" {
		t.index[e.ID] = len(t.Entries) // the last one wins, as in pi's own index
	}
	t.Entries = append(t.Entries, *e)
	return nil
}

func generator(e *transcript.Entry) *transcript.Generator {
	if e.Header == nil {
		return nil
	}
	return e.Header.Generator
}

func (t *Tree) link() {
	t.parents = make([]int, len(t.Entries))
	for i := range t.Entries {
		t.parents[i] = -1
		if p, ok := t.index[t.Entries[i].ParentID]; ok && t.Entries[i].ParentID != "" {
			t.parents[i] = p
		}
	}
	t.rings = rings(t.parents)
}

// rings finds the entries whose parents lead back to them.
func rings(parents []int) map[int]bool {
	found := make(map[int]bool)
	walk := make([]int, len(parents)) // which walk came by first
	for i := range parents {
		at := i
		for at >= 0 && walk[at] == 0 {
			walk[at] = i + 1
			at = parents[at]
		}
		// Meeting its own track closes a ring; an older track was looked at.
		for at >= 0 && walk[at] == i+1 && !found[at] {
			found[at] = true
			at = parents[at]
		}
	}
	return found
}

// linearizer gives the entries of a version 1 file, which have neither ids nor
// parents, the chain that they imply. Files are never changed: the ids exist
// in memory only. Version 2 named one role differently.
type linearizer struct {
	version int
	seen    bool
	last    string
	ids     []string // of the records, the header's place included
}

func (l *linearizer) header(e *transcript.Entry) {
	l.seen = true
	if e.Header != nil {
		l.version = e.Header.Version
	}
	l.ids = append(l.ids, "")
}

func (l *linearizer) entry(e *transcript.Entry) {
	if l.seen && l.version < 2 && e.ID == "" {
		e.ID, e.ParentID = "line-"+strconv.Itoa(e.Line), l.last
		if c := e.Compaction; c != nil && c.FirstKeptEntryID == "" && c.FirstKeptIndex > 0 && c.FirstKeptIndex < len(l.ids) {
			c.FirstKeptEntryID = l.ids[c.FirstKeptIndex]
		}
	}
	if e.Message != nil && e.Message.Role == "hookMessage" {
		e.Message.Role = transcript.CustomRole
	}
	l.last = e.ID
	l.ids = append(l.ids, e.ID)
}

// Find returns the place of an entry in Entries; the last one if the file uses
// the id several times.
func (t *Tree) Find(id string) (int, bool) {
	i, ok := t.index[id]
	return i, ok && id != ""
}

// Parent returns the place of the parent of entry i, -1 if it is a root or its
// parent is not in the file.
func (t *Tree) Parent(i int) int { return t.parents[i] }

// Path returns the places from the root to entry i. A ring of parents ends it
// where it closes.
func (t *Tree) Path(i int) []int {
	var path []int
	seen := make(map[int]bool)
	for ; i >= 0 && !seen[i]; i = t.parents[i] {
		seen[i] = true
		path = append(path, i)
	}
	slices.Reverse(path)
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
		s := t.start()
		for i := range t.Entries {
			s = t.child(s, i, kept)
			if _, ok := kept[i]; ok {
				kept[i] = s.Clone()
			}
			if !yield(i, s) {
				return
			}
		}
	}
}

// child gives the state at entry i, made from that of the entry before it in
// the file where that is the parent.
func (t *Tree) child(before *State, i int, kept map[int]*State) *State {
	s := before
	switch p := t.parents[i]; {
	case p >= i || t.rings[i] || p >= 0 && p != i-1 && kept[p] == nil:
		return t.State(i)
	case p < 0:
		s = t.start()
	case p != i-1:
		s = kept[p].Clone()
	}
	s.Apply(&t.Entries[i])
	return s
}

// forkPoints marks the entries whose state is needed again later.
func (t *Tree) forkPoints() map[int]*State {
	kept := make(map[int]*State)
	for i, p := range t.parents {
		if p >= 0 && p != i-1 {
			kept[p] = nil
		}
	}
	return kept
}

// Knowledge says how well the file tells which tools the model had.
func (t *Tree) Knowledge() Knowledge {
	for i := range t.Entries {
		if declares(&t.Entries[i]) {
			return Exact
		}
	}
	return Unknown
}

func declares(e *transcript.Entry) bool {
	m := e.Message
	if e.Compaction != nil {
		m = e.Compaction.SystemMessage
	}
	return m != nil && m.Role == transcript.System && len(m.ToolsAdded)+len(m.ToolsRemoved) > 0
}
