package diff

import (
	"cmp"
	"context"
	"slices"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
)

// Mode says how much is compared.
type Mode string

// The modes.
const (
	Full      Mode = "full"
	OnlyCalls Mode = "calls" // the sequence of tool calls, see [CompareCalls]
	OnlyTools Mode = "tools" // the declarations that requests went out with
)

// Modes lists the modes.
func Modes() []Mode { return []Mode{Full, OnlyCalls, OnlyTools} }

// Options of a comparison. The zero value compares everything but nothing of
// it is left out, so volatile members make every pair of runs differ: set
// Ignore to [Volatile] unless they are meant to count.
type Options struct {
	Mode   Mode       // "" is Full
	Ignore []string   // members that are not compared
	Leaf   string     // entry at the end of the path; "" is the last of the file
	At     replay.Cut // compare what was in effect there; the zero Cut compares the paths
	AtEnd  bool       // the zero Cut is a cut at the end

	// Values bounds the changes of each category that keep what both sides
	// have, for those who show no more; 0 is no bound. What differs everywhere
	// would be in memory twice.
	Values int

	// Of mode calls.
	Sequence  calls.Sequence      // "" is Exact
	Arguments calls.ArgumentMatch // "" is the whole of them
}

// path reports whether the whole path is compared, and not a cut of it.
func (o *Options) path() bool { return o.At == (replay.Cut{}) && !o.AtEnd }

// Result of a comparison. It reads again from what the histories were read
// from when it is written or made a patch.
type Result struct {
	A, B       *History
	Mode       Mode
	Sequence   calls.Sequence // of mode calls, else ""
	Arguments  calls.ArgumentMatch
	Common     Common
	Divergence *Divergence      // nil if there is none
	Causes     []Category       // what requests went out with that differs where the histories part
	Edits      []Edit           // mode full: at the level of entries
	Changes    []Change         // by category, in the order of Categories; in each in the order of the histories
	Mismatches []calls.Mismatch // mode calls
	Ignored    []string

	pairs pairing
	first int // step of A at whose request conditions first differ, -1 for none

	parted []Change // what Causes are made of
	turns  [2]int   // of the requests that they are about
}

// Common is the prefix that two histories share.
type Common struct {
	Turns    int `json:"turns"`    // answers
	Messages int `json:"messages"` // these among them
}

// Divergence is the first place where two histories differ. A side that has
// ended there is nil.
type Divergence struct {
	A *Moment `json:"a"`
	B *Moment `json:"b"`
}

// Moment is one message, as the divergence shows it.
type Moment struct {
	Place
	Kind string `json:"kind"` // role of a message, else type of the entry
	Text string `json:"text"` // a summary in one line, not escaped
}

// Equal reports whether nothing that counts differs.
func (r *Result) Equal() bool {
	return len(r.Edits) == 0 && len(r.Changes) == 0 && len(r.Mismatches) == 0
}

// Compare compares two histories that were read with the same options. Errors
// are I/O errors of reading them again.
func Compare(ctx context.Context, a, b *History, o Options) (*Result, error) {
	r := &Result{A: a, B: b, Mode: o.Mode, Ignored: slices.Clone(o.Ignore)}
	if r.Mode == "" {
		r.Mode = Full
	}
	if r.Mode == OnlyCalls {
		r.Sequence, r.Arguments = cmp.Or(o.Sequence, calls.Exact), cmp.Or(o.Arguments, calls.MatchExact)
		r.Mismatches = calls.Compare(a.calls, b.calls, r.Sequence, r.Arguments)
		r.damage()
		return r, nil
	}
	r.pairs = pairUp(a.steps, b.steps)
	r.Changes = r.standing(o.Values)
	if r.Mode == Full {
		r.Edits = r.pairs.edits()
		if err := r.contents(ctx, o.Values); err != nil {
			return nil, err
		}
		r.totals()
	}
	r.records()
	r.damage()
	r.sort()
	return r, r.diverge()
}

// standing compares what the requests went out with.
func (r *Result) standing(values int) []Change {
	t := r.newTrail(values)
	for i := range r.A.steps {
		x := &r.A.steps[i]
		if j := r.pairs.A[i]; j >= 0 && !r.pairs.MovedA[i] && x.at != nil {
			y := &r.B.steps[j]
			t.pass(i, x.at, y.at, place(x), place(y))
		}
	}
	t.pass(len(r.A.steps), r.A.end, r.B.end, r.A.endPlace(), r.B.endPlace())
	r.first = t.first
	return t.finish()
}

// endPlace is behind the last step.
func (h *History) endPlace() Place {
	if len(h.steps) == 0 {
		return Place{}
	}
	return place(&h.steps[len(h.steps)-1])
}

// totals compares what the answers used, which follows from what they say, so
// it counts only where usage is compared; and how the runs ended, if both
// histories record runs.
func (r *Result) totals() {
	a, b := r.A, r.B
	if !slices.Contains(r.Ignored, "usage") && a.Usage != b.Usage {
		for _, f := range jsondiff.Fields(a.Usage.tree(), b.Usage.tree()) {
			r.Changes = append(r.Changes, changeOf(f, Usage, "totals"))
		}
	}
	if a.ran && b.ran && a.ended != b.ended {
		c := valueChange(Stop, "run", word(a.ended), word(b.ended))
		c.PlaceA, c.PlaceB = a.endPlace(), b.endPlace()
		r.Changes = append(r.Changes, c)
	}
}

// records says if one history records tools in another way than the other, or
// not at all. Then the sets are not compared, and calling them the same would
// be a guess.
func (r *Result) records() {
	if a, b := r.A.Knowledge, r.B.Knowledge; a != b {
		r.Changes = append(r.Changes, valueChange(Tools, "what is recorded", string(a), string(b)))
	}
}

// damage compares the lines that could not be read: what is in them is not
// known, so two histories are equal only if these are.
func (r *Result) damage() {
	for _, d := range slices.Backward(without(r.A.Damage, r.B.Damage)) {
		r.Changes = append(r.Changes, Change{Category: Damaged, Kind: Removed, Subject: d.Kind, PlaceA: Place{Line: d.Line}, A: d.Message})
	}
	for _, d := range without(r.B.Damage, r.A.Damage) {
		r.Changes = append(r.Changes, Change{Category: Damaged, Kind: Added, Subject: d.Kind, PlaceB: Place{Line: d.Line}, B: d.Message})
	}
}

// sort groups the changes, and keeps the order of the histories in a group.
func (r *Result) sort() {
	rank := map[Category]int{}
	for i, c := range Categories() {
		rank[c] = i
	}
	slices.SortStableFunc(r.Changes, func(x, y Change) int { return rank[x.Category] - rank[y.Category] })
}
