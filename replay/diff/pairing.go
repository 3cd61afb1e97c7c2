package diff

import "github.com/turnlog/turnlog/replay/transcript"

// pairing says which step of one history belongs to which of the other.
type pairing struct {
	a, b   []int  // partner of each step, -1 for none
	movedA []bool // of a pair that crosses others
}

func newPairing(n, m int) pairing {
	return pairing{a: none(n), b: none(m), movedA: make([]bool, n)}
}

func none(n int) []int {
	partners := make([]int, n)
	for i := range partners {
		partners[i] = -1
	}
	return partners
}

// flipped is the same seen from the other side.
func (p *pairing) flipped() pairing {
	moved := make([]bool, len(p.b))
	for i, j := range p.b {
		moved[i] = j >= 0 && p.movedA[j]
	}
	return pairing{a: p.b, b: p.a, movedA: moved}
}

func (p *pairing) pair(i, j int) { p.a[i], p.b[j] = j, i }

// pairUp aligns two paths. Which side is a and which is b makes no difference:
// choices between alignments of the same worth are made on the two in a fixed
// order, so that a difference reads the same from both sides.
func pairUp(a, b []step) pairing {
	if less(b, a) {
		p := pairInOrder(b, a)
		return p.flipped()
	}
	return pairInOrder(a, b)
}

func less(a, b []step) bool {
	for i := range min(len(a), len(b)) {
		if c := a[i].whole.compare(b[i].whole); c != 0 {
			return c < 0
		}
	}
	return len(a) < len(b)
}

// pairInOrder tries the ways in which steps can be alike, the strictest first,
// each between the pairs that those before it have found: what is the same and
// answers the same call, what is the same, then the same but for the model's
// settings, then answers with the same calls and results of the same call, then
// of the same tools, then what has the same role. Comparing by position would
// report every message behind an inserted one.
func pairInOrder(a, b []step) pairing {
	p := newPairing(len(a), len(b))
	betweenSteps(&p, a, b, func(s *step) [2]digest { return [2]digest{s.whole, s.calls} })
	betweenSteps(&p, a, b, func(s *step) digest { return s.whole })
	p.moves(a, b)
	betweenSteps(&p, a, b, func(s *step) digest { return s.said })
	betweenSteps(&p, a, b, func(s *step) digest { return s.calls })
	betweenSteps(&p, a, b, func(s *step) digest { return s.shape })
	betweenSteps(&p, a, b, role)
	// Results follow their calls, whatever they look like.
	p.separate(a, b)
	betweenSteps(&p, a, b, func(s *step) digest { return s.calls })
	p.separate(a, b)
	return p
}

// role is what steps have in common that are alike in nothing else: a result
// of another tool is another result.
func role(s *step) (r struct {
	kind  string
	shape digest
},
) {
	r.kind = s.kind
	if s.kind == string(transcript.ToolResult) {
		r.shape = s.shape
	}
	return r
}

// separate parts results that answer calls which do not belong together.
func (p *pairing) separate(a, b []step) {
	for i, j := range p.a {
		if j >= 0 && a[i].kind == string(transcript.ToolResult) && !p.sameTarget(a, b, i, j) {
			p.a[i], p.b[j], p.movedA[i] = -1, -1, false
		}
	}
}

func betweenSteps[K comparable](p *pairing, a, b []step, key func(*step) K) {
	keys := func(steps []step) []K {
		list := make([]K, len(steps))
		for i := range steps {
			list[i] = key(&steps[i])
		}
		return list
	}
	between(p, keys(a), keys(b))
}

// between aligns by their keys what has no partner yet, within the gaps that
// the pairs leave.
func between[K comparable](p *pairing, a, b []K) {
	i, j := 0, 0
	var restA, restB []int
	var keysA, keysB []K
	for i < len(a) || j < len(b) {
		restA, keysA, restB, keysB = restA[:0], keysA[:0], restB[:0], keysB[:0]
		for ; i < len(a) && (p.a[i] < 0 || p.movedA[i]); i++ {
			if p.a[i] < 0 {
				restA, keysA = append(restA, i), append(keysA, a[i])
			}
		}
		for ; j < len(b) && (p.b[j] < 0 || p.movedA[p.b[j]]); j++ {
			if p.b[j] < 0 {
				restB, keysB = append(restB, j), append(keysB, b[j])
			}
		}
		align(keysA, keysB, func(x, y int) { p.pair(restA[x], restB[y]) })
		i++
		j++
	}
}

// moves pairs what is the same in both histories but in another place.
func (p *pairing) moves(a, b []step) {
	places := make(map[digest][]int)
	for j := range b {
		if p.b[j] < 0 {
			places[b[j].whole] = append(places[b[j].whole], j)
		}
	}
	for i := range a {
		at := places[a[i].whole]
		if p.a[i] >= 0 || len(at) == 0 {
			continue
		}
		p.pair(i, at[0])
		p.movedA[i] = true
		places[a[i].whole] = at[1:]
	}
}

// sameTarget reports whether two paired steps refer to steps that belong
// together: call ids and entry ids are compared by position, not by text. If
// what they refer to is on one side only, the difference is there.
func (p *pairing) sameTarget(a, b []step, i, j int) bool {
	x, y := &a[i], &b[j]
	partnerX, partnerY := partner(p.a, x.target), partner(p.b, y.target)
	switch {
	case x.kind != string(transcript.ToolResult):
		return partnerX < 0 && partnerY < 0 || partnerX == y.target
	case x.target < 0 || y.target < 0:
		return x.target == y.target
	}
	return partnerX == y.target && sameCall(a[x.target].made[x.nth], b[y.target].made[y.nth], x.nth, y.nth)
}

// sameCall reports whether call i of one answer is call j of another: the same
// one of those that say the same, or else the one in the same place.
func sameCall(a, b made, i, j int) bool {
	if a.sum != b.sum {
		return i == j
	}
	return a.nth == b.nth
}

func partner(partners []int, i int) int {
	if i < 0 || i >= len(partners) {
		return -1
	}
	return partners[i]
}
