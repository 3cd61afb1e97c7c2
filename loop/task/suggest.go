package task

import (
	"slices"
	"strconv"
	"strings"
)

// maxListed is how many valid names a hint lists when none of them is near.
const maxListed = 16

// suggest is the hint for a name that is not among the valid ones: the nearest
// of them, or all if they are few. What says what they are, as in "keys".
func suggest(name string, valid []string, what string) string {
	if near, ok := nearest(name, valid); ok {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	if len(valid) == 0 || len(valid) > maxListed {
		return ""
	}
	return what + " are: " + strings.Join(valid, ", ")
}

// nearest is the valid name that a typist most likely meant. Case and
// separators do not count (baseUrl is base_url), half a name is enough if it
// begins only one; beyond that a third of the letters may differ.
func nearest(name string, valid []string) (string, bool) {
	best, bestDistance := "", len(name)/3+1
	folded := fold(name)
	begins := slices.DeleteFunc(slices.Clone(valid), func(v string) bool { return !strings.HasPrefix(fold(v), folded) })
	if len(begins) == 1 && 2*len(folded) >= len(fold(begins[0])) {
		return begins[0], true
	}
	for _, v := range valid {
		if d := distance(folded, fold(v)); d < bestDistance {
			best, bestDistance = v, d
		}
	}
	return best, best != ""
}

// fold drops what people spell differently.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// distance counts insertions, deletions, replacements and swaps of
// neighbouring letters between a and b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	const longest = 64 // names are short; a value of a megabyte is no typo
	if len(x) > longest || len(y) > longest {
		return longest
	}
	before, last := []int(nil), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row := make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = slices.Min([]int{last[j+1] + 1, row[j] + 1, last[j] + cost})
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}
