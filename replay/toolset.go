package replay

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/turnlog/turnlog/replay/internal/pmap"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Declaration is a tool the model has, and where it was told of it.
type Declaration struct {
	transcript.Tool
	Line  int    // of the system message; 0 if it never was in a file
	Entry string // its id
}

// Removal is a tool the model had, and where it was taken away.
type Removal struct {
	Name  string
	Line  int
	Entry string
}

// ToolSet is the tools declared at a point of a history. It is a value: Apply
// returns a new set and leaves the old one as it is, so a set may be kept for
// every entry of a tree, and costs no more than what changed in it. The zero
// value is the empty set.
type ToolSet struct {
	names   pmap.Map[string, *standing] // every name that was ever declared
	order   pmap.Map[int, *standing]    // the declared ones by place
	next    int                         // place of the next declaration or removal
	ended   pmap.Map[int, *standing]    // by epoch: what a checkpoint left out was removed there
	epoch   int                         // counts checkpoints
	version int                         // counts changes, so that equal versions of one history are equal sets
}

// standing is what became of a name: the declaration, or with removed where it
// was taken away.
type standing struct {
	Declaration
	removed bool
	place   int // in the order of declarations and removals
	epoch   int
}

// Apply folds one system message that stands at line under the id entry:
// removals first, then additions. Declaring a name again keeps its position;
// removing and adding it moves it to the end.
func (t ToolSet) Apply(m *transcript.Message, line int, entry string) ToolSet {
	if len(m.ToolsAdded) == 0 && len(m.ToolsRemoved) == 0 {
		return t
	}
	t.version++
	for _, ref := range m.ToolsRemoved {
		if was := t.find(ref.Name); was != nil {
			t.order = t.order.Delete(was.place)
			gone := Declaration{Tool: transcript.Tool{Name: ref.Name}, Line: line, Entry: entry}
			t.names = t.names.Set(ref.Name, t.placed(standing{Declaration: gone, removed: true}))
		}
	}
	for _, tool := range m.ToolsAdded {
		t.declare(Declaration{Tool: tool, Line: line, Entry: entry})
	}
	return t
}

func (t *ToolSet) declare(d Declaration) {
	var now *standing
	if was := t.find(d.Name); was != nil {
		now = &standing{Declaration: d, place: was.place, epoch: was.epoch}
	} else {
		now = t.placed(standing{Declaration: d})
	}
	t.names = t.names.Set(d.Name, now)
	t.order = t.order.Set(now.place, now)
}

// placed gives s the next place.
func (t *ToolSet) placed(s standing) *standing {
	s.place, s.epoch = t.next, t.epoch
	t.next++
	return &s
}

// Replace folds the checkpoint of a compaction, which states the whole set;
// nil states the empty one. What was declared before and is not stated counts
// as removed there.
func (t ToolSet) Replace(m *transcript.Message, line int, entry string) ToolSet {
	version := t.version + 1
	t.ended = t.ended.Set(t.epoch, t.placed(standing{Declaration: Declaration{Line: line, Entry: entry}}))
	t.order = pmap.Map[int, *standing]{}
	t.epoch++
	if m != nil {
		t = t.Apply(m, line, entry)
	}
	t.version = version
	return t
}

// find gives the standing of a declared name.
func (t *ToolSet) find(name string) *standing {
	if s, _ := t.names.Get(name); s != nil && !s.removed && s.epoch == t.epoch {
		return s
	}
	return nil
}

// Lookup finds a declared tool by its exact name.
func (t ToolSet) Lookup(name string) (Declaration, bool) {
	if s := t.find(name); s != nil {
		return s.Declaration, true
	}
	return Declaration{}, false
}

// Place orders the declared tools: of two names that of the one declared first
// is the lower one. ok is false if name is not declared.
func (t ToolSet) Place(name string) (place int, ok bool) {
	if s := t.find(name); s != nil {
		return s.place, true
	}
	return 0, false
}

// LookupRemoved finds a tool that was declared once and is not now.
func (t ToolSet) LookupRemoved(name string) (Removal, bool) {
	s, ok := t.names.Get(name)
	if !ok || !s.removed && s.epoch == t.epoch {
		return Removal{}, false
	}
	at := t.removal(s)
	return Removal{Name: name, Line: at.Line, Entry: at.Entry}, true
}

// removal says where a name that is not declared was taken away: by itself, or
// by the checkpoint that left it out.
func (t *ToolSet) removal(s *standing) *standing {
	if s.removed {
		return s
	}
	end, _ := t.ended.Get(s.epoch)
	return end
}

// Declared returns the tools in declaration order.
func (t ToolSet) Declared() []Declaration {
	list := make([]Declaration, 0, t.Len())
	for _, s := range t.order.All() {
		list = append(list, s.Declaration)
	}
	return list
}

// Removed returns what was declared once and is not now, in removal order.
func (t ToolSet) Removed() []Removal {
	var gone []*standing
	for _, s := range t.names.All() {
		if s.removed || s.epoch != t.epoch {
			gone = append(gone, s)
		}
	}
	slices.SortFunc(gone, func(a, b *standing) int {
		return cmp.Or(cmp.Compare(t.removal(a).place, t.removal(b).place), cmp.Compare(a.place, b.place))
	})
	list := make([]Removal, len(gone))
	for i, s := range gone {
		at := t.removal(s)
		list[i] = Removal{Name: s.Name, Line: at.Line, Entry: at.Entry}
	}
	return list
}

// Changes returns, sorted, the names that t and other declare in different
// messages, or that only one of them declares. Of two sets of one history it
// takes O(log n) for each.
func (t ToolSet) Changes(other ToolSet) []string {
	var names []string
	for place := range pmap.Changes(t.order, other.order) {
		for _, set := range []ToolSet{t, other} {
			if s, ok := set.order.Get(place); ok {
				names = append(names, s.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Len is the number of declared tools.
func (t ToolSet) Len() int { return t.order.Len() }

// Version changes whenever the set does: two sets of one history with the same
// version are the same.
func (t ToolSet) Version() int { return t.version }

// Tools returns the declarations alone, in order.
func (t ToolSet) Tools() []transcript.Tool {
	tools := make([]transcript.Tool, 0, t.Len())
	for _, s := range t.order.All() {
		tools = append(tools, s.Tool)
	}
	return tools
}

// SameDeclaration reports whether a and b tell the model the same, byte for
// byte: the order of keys in a schema counts, white space does not. Fields that
// a file keeps beside a declaration, a label for people say, do not count.
func SameDeclaration(a, b *transcript.Tool) bool {
	return bytes.Equal(appendDeclaration(nil, interfaceOf(a)), appendDeclaration(nil, interfaceOf(b)))
}

// interfaceOf is t with the only extra field that pi passes to the model.
func interfaceOf(t *transcript.Tool) *transcript.Tool {
	if len(t.Extra) == 0 {
		return t
	}
	told := *t
	told.Extra = slices.DeleteFunc(slices.Clone(t.Extra), func(f transcript.Field) bool { return f.Name != "constrainedSampling" })
	return &told
}

// ToolDelta says what turns the tool set have into want: added in the order of
// want, removed in the order of have. Removals apply first, so a changed tool
// is in both lists.
func ToolDelta(have, want []transcript.Tool) (added []transcript.Tool, removed []transcript.ToolRef) {
	find := func(tools []transcript.Tool, name string) *transcript.Tool {
		for i := range tools {
			if tools[i].Name == name {
				return &tools[i]
			}
		}
		return nil
	}
	for i := range want {
		if old := find(have, want[i].Name); old == nil || !SameDeclaration(old, &want[i]) {
			added = append(added, want[i])
		}
	}
	for i := range have {
		if now := find(want, have[i].Name); now == nil || !SameDeclaration(&have[i], now) {
			removed = append(removed, transcript.ToolRef{Name: have[i].Name})
		}
	}
	return added, removed
}

// after makes t the set that follows on had, because of the entry at line: what
// had declares and t does not counts as removed there.
func (t ToolSet) after(had ToolSet, line int, entry string) ToolSet {
	for _, name := range had.Changes(t) {
		if had.find(name) != nil && t.find(name) == nil {
			gone := Declaration{Tool: transcript.Tool{Name: name}, Line: line, Entry: entry}
			t.names = t.names.Set(name, t.placed(standing{Declaration: gone, removed: true}))
		}
	}
	t.version = had.version + 1
	return t
}
