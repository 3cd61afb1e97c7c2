package diff

import (
	"cmp"
	"slices"
)

// The table of the exact alignment, in cells of 4 bytes. Up to smallTable it is
// always used; up to largestTable where nothing is unique; never beyond.
const (
	smallTable   = 1 << 16
	largestTable = 1 << 20
)

// align pairs the equal keys of a and b so that pairs do not cross, and calls
// match for each. Equal ends first; small gaps exactly; in big ones the keys
// that occur once on either side hold, as in patience diff
// (https://bramcohen.livejournal.com/73318.html), in n log n.
func align[K comparable](a, b []K, match func(i, j int)) {
	alignRange(a, b, 0, len(a), 0, len(b), match)
}

func alignRange[K comparable](a, b []K, a0, a1, b0, b1 int, match func(i, j int)) {
	for a0 < a1 && b0 < b1 && a[a0] == b[b0] {
		match(a0, b0)
		a0++
		b0++
	}
	for a0 < a1 && b0 < b1 && a[a1-1] == b[b1-1] {
		a1--
		b1--
		match(a1, b1)
	}
	if a0 == a1 || b0 == b1 {
		return
	}
	var anchors []pair
	size := (a1 - a0) * (b1 - b0)
	if size > smallTable {
		anchors = unique(a, b, a0, a1, b0, b1)
	}
	if len(anchors) == 0 && size <= largestTable {
		exact(a1-a0, b1-b0, func(i, j int) bool { return a[a0+i] == b[b0+j] }, func(i, j int) { match(a0+i, b0+j) })
		return
	}
	if len(anchors) == 0 {
		for _, p := range occurrences(a, b, a0, a1, b0, b1) {
			match(p.a, p.b)
		}
		return
	}
	for _, p := range append(anchors, pair{a1, b1}) {
		alignRange(a, b, a0, p.a, b0, p.b, match)
		if p.a < a1 {
			match(p.a, p.b)
		}
		a0, b0 = p.a+1, p.b+1
	}
}

// pair is a place in either of two histories.
type pair struct{ a, b int }

// unique pairs the keys that occur exactly once in either range.
func unique[K comparable](a, b []K, a0, a1, b0, b1 int) []pair {
	type seen struct{ a, b, inA, inB int }
	all := make(map[K]*seen)
	for i := a0; i < a1; i++ {
		if s := all[a[i]]; s != nil {
			s.inA++
		} else {
			all[a[i]] = &seen{a: i, inA: 1}
		}
	}
	for j := b0; j < b1; j++ {
		if s := all[b[j]]; s != nil {
			s.b = j
			s.inB++
		}
	}
	var pairs []pair
	for i := a0; i < a1; i++ {
		if s := all[a[i]]; s.inA == 1 && s.inB == 1 {
			pairs = append(pairs, pair{i, s.b})
		}
	}
	return ascending(pairs)
}

// occurrences pairs the k-th occurrence of a key with its k-th on the other
// side.
func occurrences[K comparable](a, b []K, a0, a1, b0, b1 int) []pair {
	places := make(map[K][]int)
	for j := b0; j < b1; j++ {
		places[b[j]] = append(places[b[j]], j)
	}
	var pairs []pair
	for i := a0; i < a1; i++ {
		if at := places[a[i]]; len(at) > 0 {
			pairs = append(pairs, pair{i, at[0]})
			places[a[i]] = at[1:]
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

// exact pairs a longest common subsequence of n and m items by its table.
func exact(n, m int, same func(i, j int) bool, match func(i, j int)) {
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
