package diff

import "github.com/turnlog/turnlog/replay/transcript"

// pairing says which step of one history belongs to which of the other.
type pairing struct {
	a, b   []int  // partner of each step, -1 for none
	movedA []bool // of a pair that crosses others
}

// key is what two steps have in common if they are alike in some way.
type key [2]digest

// keys are the ways in which steps can be alike, the strictest first. Each is
// tried between the pairs that those before it have found: what is the same
// and answers the same call, what is the same, then the same but for the
// model's settings, then answers with the same calls and results of the same
// call, then of the same tools, then what has the same role. Comparing by
// position would report every message behind an inserted one.
func keys() (same, alike []func(*step) key) {
	same = []func(*step) key{
		func(s *step) key { return key{s.whole, s.calls} },
		func(s *step) key { return key{s.whole} },
	}
	alike = []func(*step) key{
		func(s *step) key { return key{s.said} },
		callsKey,
		func(s *step) key { return key{s.shape} },
		kindKey,
	}
	return same, alike
}

func callsKey(s *step) key { return key{s.calls} }

func kindKey(s *step) key {
	if s.kind == string(transcript.ToolResult) {
		return key{s.shape} // of another tool it is another result
	}
	var d digest
	copy(d[:], s.kind) // kinds differ within 16 bytes, all but those of unknown entries
	return key{d}
}

// pairUp aligns two paths. Which side is a and which is b makes no difference:
// choices between alignments of the same worth are made on the two in a fixed
// order, so that a difference reads the same from both sides.
func pairUp(a, b []step) pairing {
	if flip := less(b, a); flip {
		p := pairInOrder(b, a)
		moved := make([]bool, len(a))
		for i, j := range p.b {
			moved[i] = j >= 0 && p.movedA[j]
		}
		return pairing{a: p.b, b: p.a, movedA: moved}
	}
	return pairInOrder(a, b)
}

func less(a, b []step) bool {
	for i := range min(len(a), len(b)) {
		if a[i].whole != b[i].whole {
			return string(a[i].whole[:]) < string(b[i].whole[:])
		}
	}
	return len(a) < len(b)
}

func pairInOrder(a, b []step) pairing {
	p := pairing{a: none(len(a)), b: none(len(b)), movedA: make([]bool, len(a))}
	same, alike := keys()
	for _, k := range same {
		p.between(a, b, k)
	}
	p.moves(a, b)
	for _, k := range alike {
		p.between(a, b, k)
	}
	// Results follow their calls, whatever they look like.
	p.separate(a, b)
	p.between(a, b, callsKey)
	p.separate(a, b)
	return p
}

// separate parts results that answer calls which do not belong together.
func (p *pairing) separate(a, b []step) {
	for i, j := range p.a {
		if j >= 0 && a[i].kind == string(transcript.ToolResult) && !p.sameTarget(a, b, i, j) {
			p.a[i], p.b[j], p.movedA[i] = -1, -1, false
		}
	}
}

func none(n int) []int {
	partners := make([]int, n)
	for i := range partners {
		partners[i] = -1
	}
	return partners
}

// between aligns the steps that have no partner yet by a key, within the gaps
// that the pairs leave.
func (p *pairing) between(a, b []step, k func(*step) key) {
	i, j := 0, 0
	for {
		var restA, restB []int
		for ; i < len(a) && (p.a[i] < 0 || p.movedA[i]); i++ {
			if p.a[i] < 0 {
				restA = append(restA, i)
			}
		}
		for ; j < len(b) && (p.b[j] < 0 || p.movedA[p.b[j]]); j++ {
			if p.b[j] < 0 {
				restB = append(restB, j)
			}
		}
		align(keysOf(a, restA, k), keysOf(b, restB, k), func(x, y int) {
			p.a[restA[x]], p.b[restB[y]] = restB[y], restA[x]
		})
		if i >= len(a) && j >= len(b) {
			return
		}
		i++
		j++
	}
}

func keysOf(steps []step, places []int, k func(*step) key) []key {
	list := make([]key, len(places))
	for i, at := range places {
		list[i] = k(&steps[at])
	}
	return list
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
		p.a[i], p.b[at[0]], p.movedA[i] = at[0], i, true
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
	return partnerX == y.target && sameCall(a[x.target].made, b[y.target].made, x.nth, y.nth)
}

// sameCall reports whether call i of one answer is call j of another: the same
// one of those that say the same, or else the one in the same place.
func sameCall(a, b []digest, i, j int) bool {
	if a[i] != b[j] {
		return i == j
	}
	return earlier(a, i) == earlier(b, j)
}

// earlier counts the items before n that are the same.
func earlier(list []digest, n int) (count int) {
	for _, d := range list[:n] {
		if d == list[n] {
			count++
		}
	}
	return count
}

func partner(partners []int, i int) int {
	if i < 0 || i >= len(partners) {
		return -1
	}
	return partners[i]
}
