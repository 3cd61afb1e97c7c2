package replay

import (
	"bytes"
	"slices"

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
// every entry of a tree. The zero value is the empty set.
type ToolSet struct {
	declared []Declaration // in declaration order, names unique
	removed  []Removal     // names that were declared and are not now
	version  int           // counts changes, so that equal versions of one history are equal sets
}

// Apply folds one system message that stands at line under the id entry:
// removals first, then additions. Declaring a name again keeps its position;
// removing and adding it moves it to the end.
func (t ToolSet) Apply(m *transcript.Message, line int, entry string) ToolSet {
	if len(m.ToolsAdded) == 0 && len(m.ToolsRemoved) == 0 {
		return t
	}
	t.declared, t.removed = slices.Clone(t.declared), slices.Clone(t.removed)
	t.version++
	for _, ref := range m.ToolsRemoved {
		if i := t.index(ref.Name); i >= 0 {
			t.declared = slices.Delete(t.declared, i, i+1)
			t.removed = append(t.removed, Removal{Name: ref.Name, Line: line, Entry: entry})
		}
	}
	for _, tool := range m.ToolsAdded {
		t.removed = slices.DeleteFunc(t.removed, func(r Removal) bool { return r.Name == tool.Name })
		d := Declaration{Tool: tool, Line: line, Entry: entry}
		if i := t.index(tool.Name); i >= 0 {
			t.declared[i] = d
		} else {
			t.declared = append(t.declared, d)
		}
	}
	return t
}

// Replace folds the checkpoint of a compaction, which states the whole set;
// nil states the empty one.
func (t ToolSet) Replace(m *transcript.Message, line int, entry string) ToolSet {
	next := ToolSet{version: t.version + 1}
	if m != nil {
		next = next.Apply(m, line, entry)
		next.version = t.version + 1
	}
	for _, r := range t.removed {
		if next.index(r.Name) < 0 {
			next.removed = append(next.removed, r)
		}
	}
	for _, d := range t.declared {
		if next.index(d.Name) < 0 {
			next.removed = append(next.removed, Removal{Name: d.Name, Line: line, Entry: entry})
		}
	}
	return next
}

func (t ToolSet) index(name string) int {
	return slices.IndexFunc(t.declared, func(d Declaration) bool { return d.Name == name })
}

// Lookup finds a declared tool by its exact name.
func (t ToolSet) Lookup(name string) (Declaration, bool) {
	if i := t.index(name); i >= 0 {
		return t.declared[i], true
	}
	return Declaration{}, false
}

// LookupRemoved finds a tool that was declared once and is not now.
func (t ToolSet) LookupRemoved(name string) (Removal, bool) {
	i := slices.IndexFunc(t.removed, func(r Removal) bool { return r.Name == name })
	if i < 0 {
		return Removal{}, false
	}
	return t.removed[i], true
}

// Declared returns the tools in declaration order. The slice is shared.
func (t ToolSet) Declared() []Declaration { return t.declared }

// Removed returns what was declared once and is not now, in removal order. The
// slice is shared.
func (t ToolSet) Removed() []Removal { return t.removed }

// Len is the number of declared tools.
func (t ToolSet) Len() int { return len(t.declared) }

// Version changes whenever the set does: two sets of one history with the same
// version are the same.
func (t ToolSet) Version() int { return t.version }

// Tools returns the declarations alone, in order.
func (t ToolSet) Tools() []transcript.Tool {
	tools := make([]transcript.Tool, len(t.declared))
	for i, d := range t.declared {
		tools[i] = d.Tool
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
