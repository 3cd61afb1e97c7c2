package diff

import (
	"slices"

	"github.com/turnlog/turnlog/replay"
)

// standing is a difference of what requests went out with: it holds from one
// turn on until another.
type standing struct {
	Change
	key   string // what it is about and what both sides say
	began int    // counts those of a trail
}

// trail follows the requests of two histories side by side and tells from
// which turn to which each difference of their situations holds.
type trail struct {
	a, b    *History
	only    map[Category]bool // nil for all
	done    []standing
	begun   int
	open    []standing
	last    [2]*situation
	current []standing
	first   int // step of a at whose request the first difference begins, -1 for none
}

// pass compares the situations of two requests that belong together, made at
// these places; step is that of a.
func (t *trail) pass(step int, x, y *situation, at, other Place) {
	if x == nil || y == nil {
		return
	}
	if t.last != [2]*situation{x, y} {
		t.last, t.current = [2]*situation{x, y}, t.differences(x, y)
	}
	var open []standing
	for _, was := range t.open {
		if !holds(t.current, was.key) {
			t.done = append(t.done, was)
		}
	}
	for _, now := range t.current {
		if i := find(t.open, now.key); i >= 0 {
			now = t.open[i]
		} else {
			t.begun++
			now.began = t.begun
			now.PlaceA, now.PlaceB = merge(now.PlaceA, at, now.Kind != Added), merge(now.PlaceB, other, now.Kind != Removed)
		}
		now.UntilA, now.UntilB = at.Turn, other.Turn
		open = append(open, now)
	}
	t.open = open
	if t.first < 0 && len(open) > 0 {
		t.first = step
	}
}

// merge keeps the line that a declaration already names. A side that does not
// have the subject has no line for it.
func merge(p, at Place, has bool) Place {
	if p.Line == 0 && has {
		p.Line = at.Line
	}
	p.Turn, p.Message = at.Turn, at.Message
	return p
}

// finish gives the differences in the order in which they begin.
func (t *trail) finish() []Change {
	all := append(t.done, t.open...)
	slices.SortFunc(all, func(x, y standing) int { return x.began - y.began })
	changes := make([]Change, len(all))
	for i := range all {
		changes[i] = all[i].Change
	}
	return changes
}

func holds(list []standing, key string) bool { return find(list, key) >= 0 }

func find(list []standing, key string) int {
	for i := range list {
		if list[i].key == key {
			return i
		}
	}
	return -1
}

// differences of two situations, each with a key that tells it from others.
func (t *trail) differences(x, y *situation) []standing {
	var changes []Change
	if t.wants(Tools) && t.a.Knowledge == t.b.Knowledge {
		changes = append(changes, toolChanges(x.tools, y.tools)...)
	}
	if t.wants(Prompt) {
		changes = append(changes, promptChanges(x.prompt, y.prompt)...)
	}
	if t.wants(Model) {
		changes = append(changes, settingChanges(x.settings, y.settings)...)
	}
	var s scratch
	list := make([]standing, len(changes))
	for i, c := range changes {
		d := s.sum(string(c.Category), c.Subject, c.Path, string(c.Kind), c.A, c.B)
		list[i] = standing{Change: c, key: string(d[:])}
	}
	return list
}

func (t *trail) wants(c Category) bool { return t.only == nil || t.only[c] }

// toolChanges names what differs in two tool sets: in declaration order of a,
// then what only b has. The order itself is told to the model too.
func toolChanges(a, b replay.ToolSet) []Change {
	var list []Change
	var orderA, orderB []any
	for _, d := range a.Declared() {
		other, ok := b.Lookup(d.Name)
		if !ok {
			list = append(list, Change{Category: Tools, Kind: Removed, Subject: d.Name, PlaceA: Place{Line: d.Line}, A: toolTree(&d.Tool)})
			continue
		}
		orderA = append(orderA, d.Name)
		for _, f := range Fields(toolTree(&d.Tool), toolTree(&other.Tool)) {
			c := changeOf(f, Tools, d.Name)
			c.PlaceA.Line, c.PlaceB.Line = d.Line, other.Line
			list = append(list, c)
		}
	}
	for _, d := range b.Declared() {
		if _, ok := a.Lookup(d.Name); ok {
			orderB = append(orderB, d.Name)
			continue
		}
		list = append(list, Change{Category: Tools, Kind: Added, Subject: d.Name, PlaceB: Place{Line: d.Line}, B: toolTree(&d.Tool)})
	}
	if !equal(orderA, orderB) {
		list = append(list, Change{Category: Tools, Kind: Moved, Subject: "order", A: orderA, B: orderB})
	}
	return list
}

func promptChanges(a, b replay.Prompt) []Change {
	var list []Change
	if a.Content() != b.Content() {
		list = append(list, valueChange(Prompt, "system text", word(a.Content()), word(b.Content())))
	}
	var orderA, orderB []any
	for _, s := range a.Sections() {
		text, ok := section(b, s.Name)
		if ok {
			orderA = append(orderA, s.Name)
		}
		if !ok || text != s.Text {
			list = append(list, valueChange(Prompt, "section "+s.Name, s.Text, text))
		}
	}
	for _, s := range b.Sections() {
		if _, ok := section(a, s.Name); ok {
			orderB = append(orderB, s.Name)
		} else {
			list = append(list, valueChange(Prompt, "section "+s.Name, nil, s.Text))
		}
	}
	if !equal(orderA, orderB) {
		list = append(list, Change{Category: Prompt, Kind: Moved, Subject: "order", A: orderA, B: orderB})
	}
	return list
}

func section(p replay.Prompt, name string) (any, bool) {
	for _, s := range p.Sections() {
		if s.Name == name {
			return s.Text, true
		}
	}
	return nil, false
}

func settingChanges(a, b []setting) []Change {
	var list []Change
	lookup := func(in []setting, name string) any {
		for _, s := range in {
			if s.name == name {
				return s.value
			}
		}
		return nil
	}
	for _, s := range a {
		if other := lookup(b, s.name); !equal(s.value, other) {
			list = append(list, valueChange(Model, s.name, s.value, other))
		}
	}
	for _, s := range b {
		if s.value != nil && lookup(a, s.name) == nil && !has(list, s.name) {
			list = append(list, valueChange(Model, s.name, nil, s.value))
		}
	}
	return list
}

func has(list []Change, subject string) bool {
	for i := range list {
		if list[i].Subject == subject {
			return true
		}
	}
	return false
}

// valueChange is a change of a whole value; nil is a side that has none.
func valueChange(c Category, subject string, a, b any) Change {
	return Change{Category: c, Kind: kindFor(a != nil, b != nil), Subject: subject, A: a, B: b}
}

func kindFor(inA, inB bool) Kind {
	switch {
	case !inA:
		return Added
	case !inB:
		return Removed
	}
	return Changed
}

func changeOf(f Field, c Category, subject string) Change {
	return Change{Category: c, Kind: kindFor(f.InA, f.InB), Subject: subject, Path: f.Path, A: f.A, B: f.B}
}
