package diff

import (
	"cmp"
	"math"
	"slices"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff/internal/order"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
)

// standing is a difference of what requests went out with: it holds from one
// turn on until another.
type standing struct {
	Change
	began int // counts those of a trail
}

// about is what a standing difference is about.
type about struct {
	part part
	name string // of the tool, section or setting
}

type part uint8

const (
	toolPart part = iota
	toolOrder
	textPart
	sectionPart
	sectionOrder
	settingPart
)

// trail follows the requests of two histories side by side and tells from
// which turn to which each difference of their situations holds. It looks only
// at what changed since the requests before.
type trail struct {
	tools, others bool // which categories are followed
	last          [2]*situation
	at            [2]Place // of the requests under way
	turns         [2]int   // of those before
	first         int      // step of a at whose request the first difference begins, -1 for none

	open     map[about]map[jsondiff.Digest]standing // by what both sides say
	done     []standing
	begun    int
	kept     budget
	declared order.Both
	sections order.Both
	sums     jsondiff.Digester
}

func (r *Result) newTrail(values int) *trail {
	nothing := new(situation)
	return &trail{
		tools: r.A.Knowledge == r.B.Knowledge, others: r.Mode != OnlyTools,
		last: [2]*situation{nothing, nothing}, first: -1,
		open: map[about]map[jsondiff.Digest]standing{}, kept: newBudget(values),
		declared: order.New(), sections: order.New(),
	}
}

// pass compares the situations of two requests that belong together, made at
// these places; step is that of a.
func (t *trail) pass(step int, x, y *situation, at, other Place) {
	if x == nil || y == nil {
		return
	}
	t.at = [2]Place{at, other}
	if now := [2]*situation{x, y}; now != t.last {
		if t.tools {
			t.toolChanges(now)
		}
		if t.others {
			t.promptChanges(now)
			t.settingChanges(now)
		}
		t.last = now
	}
	t.turns = [2]int{at.Turn, other.Turn}
	if t.first < 0 && len(t.open) > 0 {
		t.first = step
	}
}

// difference is a change whose values may be made when they are needed.
type difference struct {
	Change
	key    jsondiff.Digest
	values func() (a, b any) // nil if the change has them
}

// set says which differences there are about something now; the others end.
func (t *trail) set(what about, now ...difference) {
	was := t.open[what]
	if len(was)+len(now) == 0 {
		return
	}
	open := make(map[jsondiff.Digest]standing, len(now))
	for _, d := range now {
		s, ok := was[d.key]
		if !ok {
			s = t.begin(d)
		}
		delete(was, d.key)
		open[d.key] = s
	}
	for _, s := range was {
		t.end(s)
	}
	if t.open[what] = open; len(open) == 0 {
		delete(t.open, what)
	}
}

func (t *trail) begin(d difference) standing {
	t.begun++
	d.PlaceA, d.PlaceB = merge(d.PlaceA, t.at[0], d.Kind != Added), merge(d.PlaceB, t.at[1], d.Kind != Removed)
	if t.kept.keep(&d.Change) && d.values != nil {
		d.A, d.B = d.values()
	}
	return standing{Change: d.Change, began: t.begun}
}

func (t *trail) end(s standing) {
	s.UntilA, s.UntilB = t.turns[0], t.turns[1]
	t.done = append(t.done, s)
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
	for what := range t.open {
		t.set(what)
	}
	slices.SortFunc(t.done, func(x, y standing) int { return x.began - y.began })
	changes := make([]Change, len(t.done))
	for i := range t.done {
		changes[i] = t.done[i].Change
	}
	return changes
}

// change makes a difference of a change that has its values.
func (t *trail) change(c Change) difference {
	return difference{Change: c, key: t.sums.Sum(c.Path, string(c.Kind), c.A, c.B)}
}

// toolChanges compares the tools that were declared or removed since the last
// requests: in declaration order of a, then what only b has. The order itself
// is told to the model too.
func (t *trail) toolChanges(now [2]*situation) {
	var names []string
	for side, s := range now {
		names = append(names, t.last[side].tools.Changes(s.tools)...)
	}
	t.list(toolPart, &t.declared, names, func(side int, name string) named {
		place, ok := now[side].tools.Place(name)
		if !ok {
			return named{place: math.MaxInt}
		}
		d, _ := now[side].tools.Lookup(name)
		return named{toolTree(&d.Tool), d.Line, place, true}
	}, func(f jsondiff.Field, name string) Change { return changeOf(f, Tools, name) })
	t.order(about{part: toolOrder}, Tools, &t.declared)
}

func (t *trail) promptChanges(now [2]*situation) {
	a, b := now[0].prompt, now[1].prompt
	sumA, sumB, empty := a.ContentSum(), b.ContentSum(), replay.Prompt{}.ContentSum()
	var text []difference
	if sumA != sumB {
		text = append(text, difference{
			Change: Change{Category: Prompt, Kind: jsondiff.KindOf(sumA != empty, sumB != empty), Subject: "system text"},
			key:    t.sums.Sum(string(sumA[:]), string(sumB[:])),
			values: func() (any, any) { return word(a.Content()), word(b.Content()) },
		})
	}
	t.set(about{part: textPart}, text...)

	names := append(t.last[0].prompt.Changes(a), t.last[1].prompt.Changes(b)...)
	t.list(sectionPart, &t.sections, names, func(side int, name string) named {
		if s, place, ok := now[side].prompt.Section(name); ok {
			return named{s.Text, 0, place, true}
		}
		return named{place: math.MaxInt}
	}, func(f jsondiff.Field, name string) Change {
		f.Path = ""
		return changeOf(f, Prompt, "section "+name)
	})
	t.order(about{part: sectionOrder}, Prompt, &t.sections)
}

// named is a tool or a section as one side has it.
type named struct {
	value any
	line  int
	place int // behind all others where the side does not have it
	there bool
}

// list compares those of a list whose names are given.
func (t *trail) list(p part, l *order.Both, names []string, find func(side int, name string) named, change func(jsondiff.Field, string) Change) {
	slices.Sort(names)
	names = slices.Compact(names)
	sides := make(map[string][2]named, len(names))
	for _, name := range names {
		sides[name] = [2]named{find(0, name), find(1, name)}
		if s := sides[name]; s[0].there && s[1].there {
			l.Set(name, s[0].place, s[1].place)
		} else {
			l.Drop(name)
		}
	}
	slices.SortStableFunc(names, func(x, y string) int {
		a, b := sides[x], sides[y]
		return cmp.Or(cmp.Compare(a[0].place, b[0].place), cmp.Compare(a[1].place, b[1].place))
	})
	for _, name := range names {
		a, b := sides[name][0], sides[name][1]
		fields := []jsondiff.Field{{Kind: jsondiff.KindOf(a.there, b.there), A: a.value, B: b.value}}
		if a.there == b.there {
			fields = jsondiff.Fields(a.value, b.value)
		}
		now := make([]difference, len(fields))
		for i, f := range fields {
			c := change(f, name)
			c.PlaceA.Line, c.PlaceB.Line = a.line, b.line
			now[i] = t.change(c)
		}
		t.set(about{p, name}, now...)
	}
}

func (t *trail) order(what about, c Category, l *order.Both) {
	if l.Same() {
		t.set(what)
		return
	}
	a, b := l.Sums()
	t.set(what, difference{
		Change: Change{Category: c, Kind: Moved, Subject: "order"},
		key:    t.sums.Sum(jsondiff.Number(int64(a)), jsondiff.Number(int64(b))),
		values: func() (any, any) { return l.Names() },
	})
}

// settingChanges compares model and parameters; the parameters only if they
// were stated anew, as there may be any number of them.
func (t *trail) settingChanges(now [2]*situation) {
	params := now[0].params != t.last[0].params || now[1].params != t.last[1].params
	var lists [4][]setting
	var values [2]map[string]any
	for side := range now {
		lists[side], lists[side+2] = now[side].list(params), t.last[side].list(params)
		values[side] = make(map[string]any, len(lists[side]))
		for _, s := range lists[side] {
			values[side][s.name] = s.value
		}
	}
	done := make(map[string]bool, len(lists[0]))
	for _, s := range slices.Concat(lists[:]...) {
		if done[s.name] {
			continue
		}
		done[s.name] = true
		if a, b := values[0][s.name], values[1][s.name]; jsondiff.Equal(a, b) {
			t.set(about{settingPart, s.name})
		} else {
			t.set(about{settingPart, s.name}, t.change(valueChange(Model, s.name, a, b)))
		}
	}
}
