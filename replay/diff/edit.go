package diff

import (
	"slices"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Op is what an edit does to a history.
type Op string

// The operations.
const (
	Insert  Op = "insert"
	Drop    Op = "drop"
	Replace Op = "replace"
	Move    Op = "move"   // the same, in another place
	Rename  Op = "rename" // the same, with other call ids: in a [Patch] only, so that results find their calls in what it makes
)

// Edit is a difference between two histories at the level of entries. A and B
// count the compared entries of the paths from 0; -1 where the side has none.
type Edit struct {
	Op    Op
	A, B  int
	Entry *transcript.Entry // what B has; nil for Drop, and before [Result.Patch]
}

// Patch is what turns one history into another. The zero value changes
// nothing.
type Patch []Edit

// Apply returns the history that the patch makes of a: the compared entries of
// the path that was compared, see [History.Path]. Nothing is shared with the
// patch but the entries themselves.
func (p Patch) Apply(a []*transcript.Entry) []*transcript.Entry {
	gone := make(map[int]bool)
	set := make(map[int]*transcript.Entry)
	size := len(a)
	for _, e := range p {
		if e.A >= 0 {
			gone[e.A] = true
		}
		switch e.Op {
		case Insert:
			size++
			set[e.B] = e.Entry
		case Drop:
			size--
		default:
			set[e.B] = e.Entry
		}
	}
	out := make([]*transcript.Entry, 0, size)
	next := 0
	for len(out) < size {
		if e, ok := set[len(out)]; ok {
			out = append(out, e)
			continue
		}
		for gone[next] {
			next++
		}
		if next >= len(a) {
			break // not the history that the patch was made for
		}
		out = append(out, a[next])
		next++
	}
	return out
}

// Patch is the edits with what they need to be applied, and the renaming of
// calls whose ids are written differently.
func (r *Result) Patch() (Patch, error) {
	p := Patch(slices.Clone(r.Edits))
	done := make(map[int]bool)
	for _, e := range p {
		done[e.B] = true
	}
	for j, i := range r.pairs.B {
		if i >= 0 && !done[j] && r.A.steps[i].ids != r.B.steps[j].ids {
			p = append(p, Edit{Op: Rename, A: i, B: j})
		}
	}
	for i := range p {
		if p[i].Op == Drop {
			continue
		}
		e, err := r.B.load(&r.B.steps[p[i].B])
		if err != nil {
			return nil, err
		}
		p[i].Entry = e
	}
	return p, nil
}

// edits lists the differences in the order of the histories.
func (p *pairing) edits() []Edit {
	a, b := p.stepsA, p.stepsB
	var list []Edit
	i := 0
	for j := 0; j <= len(b); j++ {
		for ; i < len(a) && (p.A[i] < 0 || p.MovedA[i]); i++ {
			// What moved away from what it refers to is not the same any more.
			if p.A[i] < 0 || !p.sameTarget(i, p.A[i]) {
				list = append(list, Edit{Op: Drop, A: i, B: -1})
			}
		}
		if j == len(b) {
			break
		}
		k := p.B[j]
		switch {
		case k < 0, p.MovedA[k] && !p.sameTarget(k, j):
			list = append(list, Edit{Op: Insert, A: -1, B: j})
		case p.MovedA[k]:
			list = append(list, Edit{Op: Move, A: k, B: j})
		default:
			if a[k].whole != b[j].whole || !p.sameTarget(k, j) {
				list = append(list, Edit{Op: Replace, A: k, B: j})
			}
			i = k + 1
		}
	}
	return list
}

// Path gives the entries of a history that are compared, in order: what
// [Patch.Apply] takes.
func (h *History) Path() ([]*transcript.Entry, error) {
	list := make([]*transcript.Entry, len(h.steps))
	for i := range h.steps {
		e, err := h.load(&h.steps[i])
		if err != nil {
			return nil, err
		}
		list[i] = e
	}
	return list, nil
}
