package align

// Pairing says which item of one list belongs to which of another.
type Pairing struct {
	A, B   []int  // partner of each item, -1 for none
	MovedA []bool // of a pair that crosses others
}

// NewPairing is that of two lists of which nothing belongs together yet.
func NewPairing(n, m int) Pairing {
	return Pairing{A: none(n), B: none(m), MovedA: make([]bool, n)}
}

func none(n int) []int {
	partners := make([]int, n)
	for i := range partners {
		partners[i] = -1
	}
	return partners
}

// Flipped is the same seen from the other side.
func (p *Pairing) Flipped() Pairing {
	moved := make([]bool, len(p.B))
	for i, j := range p.B {
		moved[i] = j >= 0 && p.MovedA[j]
	}
	return Pairing{A: p.B, B: p.A, MovedA: moved}
}

// Pair puts two items together.
func (p *Pairing) Pair(i, j int) { p.A[i], p.B[j] = j, i }

// Part takes an item of a from its partner.
func (p *Pairing) Part(i int) {
	p.B[p.A[i]] = -1
	p.A[i], p.MovedA[i] = -1, false
}

// Between aligns by their keys what has no partner yet, within the gaps that
// the pairs leave.
func Between[K comparable](p *Pairing, a, b []K) {
	i, j := 0, 0
	var restA, restB []int
	var keysA, keysB []K
	for i < len(a) || j < len(b) {
		restA, keysA, restB, keysB = restA[:0], keysA[:0], restB[:0], keysB[:0]
		for ; i < len(a) && (p.A[i] < 0 || p.MovedA[i]); i++ {
			if p.A[i] < 0 {
				restA, keysA = append(restA, i), append(keysA, a[i])
			}
		}
		for ; j < len(b) && (p.B[j] < 0 || p.MovedA[p.B[j]]); j++ {
			if p.B[j] < 0 {
				restB, keysB = append(restB, j), append(keysB, b[j])
			}
		}
		Keys(keysA, keysB, func(x, y int) { p.Pair(restA[x], restB[y]) })
		i++
		j++
	}
}

// Moves pairs what has the same key and no partner in any place.
func Moves[K comparable](p *Pairing, a, b []K) {
	places := make(map[K][]int)
	for j, k := range b {
		if p.B[j] < 0 {
			places[k] = append(places[k], j)
		}
	}
	for i, k := range a {
		if at := places[k]; p.A[i] < 0 && len(at) > 0 {
			p.Pair(i, at[0])
			p.MovedA[i] = true
			places[k] = at[1:]
		}
	}
}
