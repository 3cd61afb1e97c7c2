package diff

import (
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/internal/align"
	"github.com/turnlog/turnlog/replay/transcript"
)

// pairing says which step of one history belongs to which of the other.
type pairing struct {
	align.Pairing
	stepsA, stepsB []step
}

// pairUp aligns two paths. Which side is a and which is b makes no difference:
// choices between alignments of the same worth are made on the two in a fixed
// order, so that a difference reads the same from both sides.
func pairUp(a, b []step) pairing {
	if less(b, a) {
		p := pairInOrder(b, a)
		return pairing{p.Flipped(), a, b}
	}
	return pairInOrder(a, b)
}

func less(a, b []step) bool {
	for i := range min(len(a), len(b)) {
		if c := a[i].whole.Compare(b[i].whole); c != 0 {
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
	p := pairing{align.NewPairing(len(a), len(b)), a, b}
	whole := func(s *step) jsondiff.Digest { return s.whole }
	between(&p, func(s *step) [2]jsondiff.Digest { return [2]jsondiff.Digest{s.whole, s.calls} })
	between(&p, whole)
	align.Moves(&p.Pairing, keys(a, whole), keys(b, whole))
	between(&p, func(s *step) jsondiff.Digest { return s.said })
	between(&p, func(s *step) jsondiff.Digest { return s.calls })
	between(&p, func(s *step) jsondiff.Digest { return s.shape })
	between(&p, func(s *step) jsondiff.Digest { return s.role })
	// Results follow their calls, whatever they look like.
	p.separate()
	between(&p, func(s *step) jsondiff.Digest { return s.calls })
	p.separate()
	return p
}

func between[K comparable](p *pairing, key func(*step) K) {
	align.Between(&p.Pairing, keys(p.stepsA, key), keys(p.stepsB, key))
}

func keys[K comparable](steps []step, key func(*step) K) []K {
	list := make([]K, len(steps))
	for i := range steps {
		list[i] = key(&steps[i])
	}
	return list
}

// separate parts results that answer calls which do not belong together.
func (p *pairing) separate() {
	for i, j := range p.A {
		if j >= 0 && p.stepsA[i].kind == string(transcript.ToolResult) && !p.sameTarget(i, j) {
			p.Part(i)
		}
	}
}

// sameTarget reports whether two paired steps refer to steps that belong
// together: call ids and entry ids are compared by position, not by text. If
// what they refer to is on one side only, the difference is there.
func (p *pairing) sameTarget(i, j int) bool {
	x, y := &p.stepsA[i], &p.stepsB[j]
	partnerX, partnerY := partner(p.A, x.target), partner(p.B, y.target)
	switch {
	case x.kind != string(transcript.ToolResult):
		return partnerX < 0 && partnerY < 0 || partnerX == y.target
	case x.target < 0 || y.target < 0:
		return x.target == y.target
	case partnerX != y.target:
		return false
	}
	// The same one of the calls that say the same, or else the one in the same place.
	callX, callY := p.stepsA[x.target].made[x.nth], p.stepsB[y.target].made[y.nth]
	if callX.sum != callY.sum {
		return x.nth == y.nth
	}
	return callX.nth == callY.nth
}

func partner(partners []int, i int) int {
	if i < 0 || i >= len(partners) {
		return -1
	}
	return partners[i]
}
