package diff

import (
	"encoding/json"
	"slices"
)

// Call is a tool call that was made, or one that is wanted.
type Call struct {
	Line      int             `json:"line,omitempty"` // of the file; 0 if it is in none
	Turn      int             `json:"turn,omitempty"` // request of the path, from 1; 0 if unknown
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"` // nil in a wanted call: they do not matter; in one that was made: it had none
}

// noArguments is what a call without arguments has: absent is as good as empty.
var noArguments = json.RawMessage("{}")

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

func (s Sequence) orDefault() Sequence {
	if s == "" {
		return Exact
	}
	return s
}

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

func (m ArgumentMatch) orDefault() ArgumentMatch {
	if m == "" {
		return MatchExact
	}
	return m
}

// Mismatch is a call that is wanted and was not made, one that was made and is
// not wanted, or, with both, one that was made with other arguments.
type Mismatch struct {
	Want, Got int // places in the two lists; -1 for none
	Fields    []Field
}

// CompareCalls says what keeps the calls that were made from being those
// wanted: nothing if they are. Which of several possible explanations is given
// depends only on the two lists. In a sequence without order every wanted call
// needs a call of its own; the most that can be paired are.
func CompareCalls(want, got []Call, s Sequence, m ArgumentMatch) []Mismatch {
	c := newCalls(want, got, m.orDefault())
	switch s.orDefault() {
	case Exact, InOrder:
		c.inOrder()
	default:
		c.anyOrder()
	}
	var list []Mismatch
	if s != Subset {
		list = c.missing(s)
	}
	if s != InOrder && s != Superset {
		list = append(list, c.unexpected()...)
	}
	slices.SortStableFunc(list, func(x, y Mismatch) int { return c.at(x) - c.at(y) })
	return list
}

// calls is a comparison under way.
type calls struct {
	want, got []Call
	trees     [2][]any // arguments, decoded
	keys      [2][]digest
	match     ArgumentMatch
	pairs     pairing
	near      []int // the wanted call that a call came near, -1 for none
}

func newCalls(want, got []Call, m ArgumentMatch) *calls {
	c := &calls{want: want, got: got, match: m, pairs: newPairing(len(want), len(got)), near: none(len(got))}
	var s scratch
	for side, list := range [][]Call{want, got} {
		for i := range list {
			var tree any
			switch {
			case m == MatchIgnore:
			case len(list[i].Arguments) == 0 && side == 1:
				tree = decode(noArguments)
			default:
				tree = decodeArguments(list[i].Arguments)
			}
			c.trees[side] = append(c.trees[side], tree)
			c.keys[side] = append(c.keys[side], s.sum(list[i].Name, tree))
		}
	}
	return c
}

// fits reports whether call j is what call i wants.
func (c *calls) fits(i, j int) bool {
	switch {
	case c.want[i].Name != c.got[j].Name:
		return false
	case c.match == MatchIgnore || c.want[i].Arguments == nil || c.keys[0][i] == c.keys[1][j]:
		return true
	case c.match == MatchPartial:
		return within(c.trees[0][i], c.trees[1][j])
	}
	return false
}

// within reports whether all that want has is in got.
func within(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return false
		}
		for name, v := range w {
			if other, there := g[name]; !there || !within(v, other) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, within)
	}
	return equal(want, got)
}

// plain reports whether fitting is being the same, so that keys can be
// compared instead of calls.
func (c *calls) plain() bool {
	return c.match == MatchIgnore || c.match == MatchExact && !slices.ContainsFunc(c.want, func(w Call) bool { return w.Arguments == nil })
}

// inOrder takes the earliest call that fits each wanted one, which finds all
// of them if they are there. If they are not, a longest common subsequence
// says least about what is missing; where its table would be too big the
// earliest calls stay.
func (c *calls) inOrder() {
	if c.earliest() {
		return
	}
	found := c.pairs
	c.pairs = newPairing(len(c.want), len(c.got))
	switch {
	case c.plain():
		align(c.keys[0], c.keys[1], c.pairs.pair)
	case len(c.want)*len(c.got) <= largestTable:
		exact(len(c.want), len(c.got), c.fits, c.pairs.pair)
	default:
		c.pairs = found
	}
}

func (c *calls) earliest() bool {
	next, all := 0, true
	for i := range c.want {
		j := next
		for j < len(c.got) && !c.fits(i, j) {
			j++
		}
		if j == len(c.got) {
			all = false
			continue
		}
		c.pairs.pair(i, j)
		next = j + 1
	}
	return all
}

// anyOrder pairs as many calls as can be paired: first what is the same, which
// never keeps others from a partner, then the rest by augmenting paths.
func (c *calls) anyOrder() {
	places := map[digest][]int{}
	for j, key := range c.keys[1] {
		places[key] = append(places[key], j)
	}
	for i, key := range c.keys[0] {
		if at := places[key]; len(at) > 0 {
			c.pairs.pair(i, at[0])
			places[key] = at[1:]
		}
	}
	if c.plain() {
		return
	}
	for i := range c.want {
		if c.pairs.a[i] < 0 {
			c.augment(i, make([]bool, len(c.got)))
		}
	}
}

// augment finds a partner for i, moving others to other partners if need be.
func (c *calls) augment(i int, seen []bool) bool {
	for j := range c.got {
		if seen[j] || !c.fits(i, j) {
			continue
		}
		seen[j] = true
		if c.pairs.b[j] < 0 || c.augment(c.pairs.b[j], seen) {
			c.pairs.pair(i, j)
			return true
		}
	}
	return false
}

// missing lists the wanted calls that have no partner, each with the call of
// the same tool that came instead, if there is one.
func (c *calls) missing(s Sequence) []Mismatch {
	var list []Mismatch
	for i, j := range c.pairs.a {
		if j >= 0 {
			continue
		}
		miss := Mismatch{Want: i, Got: -1}
		if near := c.nearest(i, s); near >= 0 {
			c.near[near] = i
			miss.Got, miss.Fields = near, c.fields(i, near)
		}
		list = append(list, miss)
	}
	return list
}

// nearest finds a call of the tool that i wants, made where i belongs, that no
// wanted call fits.
func (c *calls) nearest(i int, s Sequence) int {
	from, to := 0, len(c.got)
	if s == Exact || s == InOrder {
		for k := i - 1; k >= 0 && from == 0; k-- {
			from = c.pairs.a[k] + 1
		}
		for k := i + 1; k < len(c.want); k++ {
			if c.pairs.a[k] >= 0 {
				to = c.pairs.a[k]
				break
			}
		}
	}
	for j := from; j < to; j++ {
		if c.pairs.b[j] < 0 && c.near[j] < 0 && c.got[j].Name == c.want[i].Name && !c.fits(i, j) {
			return j
		}
	}
	return -1
}

// fields says how the arguments differ; of a partial match only what is
// wanted counts.
func (c *calls) fields(i, j int) []Field {
	fields := Fields(c.trees[0][i], c.trees[1][j])
	if c.match == MatchPartial {
		fields = slices.DeleteFunc(fields, func(f Field) bool { return f.Kind == Added })
	}
	return fields
}

// unexpected lists the calls that nobody wanted and that came near none.
func (c *calls) unexpected() []Mismatch {
	var list []Mismatch
	for j, i := range c.pairs.b {
		if i < 0 && c.near[j] < 0 {
			list = append(list, Mismatch{Want: -1, Got: j})
		}
	}
	return list
}

// at orders mismatches: by the wanted call, others behind the one before them.
func (c *calls) at(m Mismatch) int {
	if m.Want >= 0 {
		return 2 * m.Want
	}
	for j := m.Got; j >= 0; j-- {
		if i := max(c.pairs.b[j], c.near[j]); i >= 0 {
			return 2*i + 1
		}
	}
	return -1
}
