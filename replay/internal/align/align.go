// Package align finds what belongs together in two lists.
package align

import (
	"cmp"
	"slices"
)

// The table of the exact alignment, in cells of 4 bytes. Up to smallTable it is
// always used; up to LargestTable where nothing is unique; never beyond.
const (
	smallTable   = 1 << 16
	LargestTable = 1 << 20
)

// mostLevels bounds how often a gap is parted by what is unique in it. A list
// in which each part makes one more key unique would cost its square.
const mostLevels = 64

// Keys pairs the equal keys of a and b so that pairs do not cross, and calls
// match for each. Equal ends first; small gaps exactly; in big ones the keys
// that occur once on either side hold, as in patience diff
// (https://bramcohen.livejournal.com/73318.html), in n log n.
func Keys[K comparable](a, b []K, match func(i, j int)) {
	gap[K]{a, b, 0, 0, match}.align(mostLevels)
}

// gap is a part of two lists, which begins at these places of them.
type gap[K comparable] struct {
	a, b  []K
	i, j  int
	match func(i, j int)
}

// sub is the part from a place of either side to another.
func (g gap[K]) sub(from, to pair) gap[K] {
	return gap[K]{g.a[from.a:to.a], g.b[from.b:to.b], g.i + from.a, g.j + from.b, g.match}
}

func (g gap[K]) pair(i, j int) { g.match(g.i+i, g.j+j) }

func (g gap[K]) align(levels int) {
	from, to := pair{}, pair{len(g.a), len(g.b)}
	for from.a < to.a && from.b < to.b && g.a[from.a] == g.b[from.b] {
		g.pair(from.a, from.b)
		from = pair{from.a + 1, from.b + 1}
	}
	for from.a < to.a && from.b < to.b && g.a[to.a-1] == g.b[to.b-1] {
		to = pair{to.a - 1, to.b - 1}
		g.pair(to.a, to.b)
	}
	g = g.sub(from, to)
	size := len(g.a) * len(g.b)
	if size == 0 {
		return
	}
	var anchors []pair
	if size > smallTable && levels > 0 {
		anchors = g.unique()
	}
	switch {
	case len(anchors) == 0 && size <= LargestTable:
		Exact(len(g.a), len(g.b), func(i, j int) bool { return g.a[i] == g.b[j] }, g.pair)
	case len(anchors) == 0:
		for _, p := range g.occurrences() {
			g.pair(p.a, p.b)
		}
	default:
		from := pair{}
		for _, p := range anchors {
			g.sub(from, p).align(levels - 1)
			g.pair(p.a, p.b)
			from = pair{p.a + 1, p.b + 1}
		}
		g.sub(from, pair{len(g.a), len(g.b)}).align(levels - 1)
	}
}

// pair is a place in either of two lists.
type pair struct{ a, b int }

// unique pairs the keys that occur exactly once on either side.
func (g gap[K]) unique() []pair {
	type seen struct{ b, inA, inB int }
	all := make(map[K]seen, len(g.a))
	for _, k := range g.a {
		s := all[k]
		s.inA++
		all[k] = s
	}
	for j, k := range g.b {
		if s, ok := all[k]; ok {
			all[k] = seen{j, s.inA, s.inB + 1}
		}
	}
	var pairs []pair
	for i, k := range g.a {
		if s := all[k]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, pair{i, s.b})
		}
	}
	return ascending(pairs)
}

// occurrences pairs the k-th occurrence of a key with its k-th on the other
// side.
func (g gap[K]) occurrences() []pair {
	places := make(map[K][]int)
	for j, k := range g.b {
		places[k] = append(places[k], j)
	}
	var pairs []pair
	for i, k := range g.a {
		if at := places[k]; len(at) > 0 {
			pairs = append(pairs, pair{i, at[0]})
			places[k] = at[1:]
		}
	}
	return ascending(pairs)
}

// ascending keeps the most pairs that do not cross; a ascends in pairs
// already. It is the longest increasing subsequence by patience sorting.
func ascending(pairs []pair) []pair {
	var piles []int // the pair on top of each
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(piles, p.b, func(pile, b int) int { return cmp.Compare(pairs[pile].b, b) })
		before[i] = -1
		if k > 0 {
			before[i] = piles[k-1]
		}
		if k == len(piles) {
			piles = append(piles, i)
		} else {
			piles[k] = i
		}
	}
	kept := make([]pair, len(piles))
	for k := len(piles) - 1; k >= 0; k-- {
		i := piles[k]
		if k+1 < len(piles) {
			i = before[piles[k+1]]
			piles[k] = i
		}
		kept[k] = pairs[i]
	}
	return kept
}

// Exact pairs a longest common subsequence of n and m items by its table.
func Exact(n, m int, same func(i, j int) bool, match func(i, j int)) {
	width := m + 1
	longest := make([]int32, (n+1)*width)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			at := i*width + j
			longest[at] = max(longest[at+1], longest[at+width])
			if same(i, j) {
				longest[at] = max(longest[at], longest[at+width+1]+1)
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		at := i*width + j
		switch {
		case same(i, j) && longest[at] == longest[at+width+1]+1:
			match(i, j)
			i++
			j++
		case longest[at+width] >= longest[at+1]:
			i++
		default:
			j++
		}
	}
}
