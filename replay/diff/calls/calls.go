// Package calls compares sequences of tool calls: those that were made with
// those that are wanted.
package calls

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/internal/align"
)

// Call is a tool call that was made, or one that is wanted.
type Call struct {
	Line      int             `json:"line,omitempty"` // of the file; 0 if it is in none
	Turn      int             `json:"turn,omitempty"` // request of the path, from 1; 0 if unknown
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // nil in a wanted call: they do not matter; in one that was made: it had none
}

// Sequence says how the calls that were made relate to those wanted.
type Sequence string

// The relations.
const (
	Exact    Sequence = "exact"     // these calls in this order and no others
	InOrder  Sequence = "in_order"  // these calls in this order, others may stand between them
	AnyOrder Sequence = "any_order" // these calls and no others
	Subset   Sequence = "subset"    // no calls but these
	Superset Sequence = "superset"  // these calls, and maybe others
)

// Sequences lists the relations.
func Sequences() []Sequence { return []Sequence{Exact, InOrder, AnyOrder, Subset, Superset} }

// ArgumentMatch says when the arguments of a call are those wanted.
type ArgumentMatch string

// The matches. The order of members never matters, nor how a number is
// written.
const (
	MatchExact   ArgumentMatch = "exact"
	MatchPartial ArgumentMatch = "partial" // objects may have more members than those wanted, at any depth; arrays may not
	MatchIgnore  ArgumentMatch = "ignore"
)

// ArgumentMatches lists the matches.
func ArgumentMatches() []ArgumentMatch {
	return []ArgumentMatch{MatchExact, MatchPartial, MatchIgnore}
}

// Mismatch is a call that is wanted and was not made, one that was made and is
// not wanted, or, with both, one that was made with other arguments.
type Mismatch struct {
	Want, Got int // places in the two lists; -1 for none
	Fields    []jsondiff.Field
}

// Compare says what keeps the calls that were made from being those wanted:
// nothing if they are. Which of several possible explanations is given depends
// only on the two lists. In a sequence without order every wanted call needs a
// call of its own; the most that can be paired are. "" is Exact and MatchExact.
func Compare(want, got []Call, s Sequence, m ArgumentMatch) []Mismatch {
	c := newComparison(want, got, cmp.Or(m, MatchExact))
	ordered := s == "" || s == Exact || s == InOrder
	if ordered {
		c.inOrder()
	} else {
		c.anyOrder()
	}
	var list []placed
	if s != Subset {
		list = c.missing(ordered)
	}
	if s != InOrder && s != Superset {
		list = append(list, c.unexpected()...)
	}
	slices.SortStableFunc(list, func(x, y placed) int { return x.at - y.at })
	var mismatches []Mismatch
	for _, p := range list {
		mismatches = append(mismatches, p.Mismatch)
	}
	return mismatches
}

// placed is a mismatch in the order of the wanted calls: it is about one of
// them, or stands behind one.
type placed struct {
	Mismatch
	at int
}

// comparison of two lists that is under way.
type comparison struct {
	want, got []Call
	trees     [2][]any // arguments, decoded
	keys      [2][]jsondiff.Digest
	match     ArgumentMatch
	pairs     align.Pairing
	near      map[int]int // of a call the wanted one that it came near
}

func newComparison(want, got []Call, m ArgumentMatch) *comparison {
	c := &comparison{want: want, got: got, match: m, pairs: align.NewPairing(len(want), len(got)), near: map[int]int{}}
	var d jsondiff.Digester
	for side, list := range [][]Call{want, got} {
		for i := range list {
			var tree any
			switch {
			case m == MatchIgnore:
			case len(list[i].Arguments) > 0:
				tree = jsondiff.Decode(list[i].Arguments)
			case side == 1:
				tree = map[string]any{} // absent is as good as empty
			}
			c.trees[side] = append(c.trees[side], tree)
			c.keys[side] = append(c.keys[side], d.Sum(list[i].Name, tree))
		}
	}
	return c
}

// fits reports whether call j is what call i wants.
func (c *comparison) fits(i, j int) bool {
	switch {
	case c.want[i].Name != c.got[j].Name:
		return false
	case c.match == MatchIgnore || c.want[i].Arguments == nil || c.keys[0][i] == c.keys[1][j]:
		return true
	}
	return c.match == MatchPartial && jsondiff.Within(c.trees[0][i], c.trees[1][j])
}

// plain reports whether fitting is being the same, so that keys can be
// compared instead of calls.
func (c *comparison) plain() bool {
	return c.match == MatchIgnore || c.match == MatchExact && !slices.ContainsFunc(c.want, func(w Call) bool { return w.Arguments == nil })
}

// inOrder takes the earliest call that fits each wanted one, which finds all
// of them if they are there. If they are not, a longest common subsequence
// says least about what is missing; where its table would be too big the
// earliest calls stay.
func (c *comparison) inOrder() {
	small := len(c.want)*len(c.got) <= align.LargestTable
	if c.earliest(c.plain() || small) {
		return
	}
	switch pairs := align.NewPairing(len(c.want), len(c.got)); {
	case c.plain():
		align.Keys(c.keys[0], c.keys[1], pairs.Pair)
		c.pairs = pairs
	case small:
		align.Exact(len(c.want), len(c.got), c.fits, pairs.Pair)
		c.pairs = pairs
	}
}

// earliest reports whether there is a call for each wanted one. If all must be
// there it ends at the first that is not; else it goes on for a while, as what
// is nowhere is looked for up to the end each time.
func (c *comparison) earliest(must bool) bool {
	next, all := 0, true
	looks := align.LargestTable
	for i := range c.want {
		j := next
		for j < len(c.got) && !c.fits(i, j) {
			j++
		}
		if j < len(c.got) {
			c.pairs.Pair(i, j)
			next = j + 1
			continue
		}
		all = false
		if looks -= j - next; must || looks < 0 {
			break
		}
	}
	return all
}

// anyOrder pairs as many calls as can be paired: first what is the same, which
// never keeps others from a partner, then the rest by augmenting paths.
func (c *comparison) anyOrder() {
	align.Moves(&c.pairs, c.keys[0], c.keys[1])
	if c.plain() {
		return
	}
	byName := make(map[string][]int)
	for j := range c.got {
		byName[c.got[j].Name] = append(byName[c.got[j].Name], j)
	}
	seen := make([]int, len(c.got)) // by whom last
	for i := range c.want {
		if c.pairs.A[i] < 0 {
			c.augment(i, byName, seen, i+1)
		}
	}
}

// augment finds a partner for i, moving others to other partners if need be.
func (c *comparison) augment(i int, byName map[string][]int, seen []int, round int) bool {
	for _, j := range byName[c.want[i].Name] {
		if seen[j] == round || !c.fits(i, j) {
			continue
		}
		seen[j] = round
		if c.pairs.B[j] < 0 || c.augment(c.pairs.B[j], byName, seen, round) {
			c.pairs.Pair(i, j)
			return true
		}
	}
	return false
}

// missing lists the wanted calls that have no partner, each with a call of the
// same tool that no wanted call fits, if there is one where it belongs.
func (c *comparison) missing(ordered bool) []placed {
	free := make(map[string][]int) // calls without a partner, by name
	for j, i := range c.pairs.B {
		if i < 0 {
			free[c.got[j].Name] = append(free[c.got[j].Name], j)
		}
	}
	var list []placed
	from, until := 0, c.following(ordered)
	for i, j := range c.pairs.A {
		if j >= 0 {
			if ordered {
				from = j + 1
			}
			continue
		}
		name := c.want[i].Name
		for len(free[name]) > 0 && free[name][0] < from {
			free[name] = free[name][1:]
		}
		miss := Mismatch{Want: i, Got: -1}
		for k, j := range free[name] {
			if j >= until[i] {
				break
			}
			if !c.fits(i, j) {
				c.near[j] = i
				miss.Got, miss.Fields = j, c.fields(i, j)
				free[name] = without(free[name], k)
				break
			}
		}
		list = append(list, placed{miss, 2 * i})
	}
	return list
}

// without takes item k out of a list that nobody else has.
func without(list []int, k int) []int {
	copy(list[1:k+1], list[:k])
	return list[1:]
}

// following gives for each wanted call the place up to which it belongs.
func (c *comparison) following(ordered bool) []int {
	until := make([]int, len(c.want))
	next := len(c.got)
	for i := len(c.want) - 1; i >= 0; i-- {
		until[i] = next
		if ordered && c.pairs.A[i] >= 0 {
			next = c.pairs.A[i]
		}
	}
	return until
}

// fields says how the arguments differ; of a partial match only what is
// wanted counts.
func (c *comparison) fields(i, j int) []jsondiff.Field {
	fields := jsondiff.Fields(c.trees[0][i], c.trees[1][j])
	if c.match == MatchPartial {
		fields = slices.DeleteFunc(fields, func(f jsondiff.Field) bool { return f.Kind == jsondiff.Added })
	}
	return fields
}

// unexpected lists the calls that nobody wanted and that came near none.
func (c *comparison) unexpected() []placed {
	var list []placed
	at := -1
	for j, i := range c.pairs.B {
		if near, ok := c.near[j]; ok {
			i = near
		}
		if i < 0 {
			list = append(list, placed{Mismatch{Want: -1, Got: j}, at})
		} else {
			at = 2*i + 1
		}
	}
	return list
}
