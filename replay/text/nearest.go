package text

import (
	"cmp"
	"slices"
	"strings"
)

// maxNear is how many names Nearest offers.
const maxNear = 3

// Nearest returns the few valid names that a typist may have meant, the
// likeliest first. Case and separators do not count (baseUrl is base_url), half
// a name is enough if it begins only one; beyond that a third of the letters
// may differ.
func Nearest(name string, valid []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	folded := fold(name)
	begun := slices.DeleteFunc(slices.Clone(valid), func(v string) bool { return !strings.HasPrefix(fold(v), folded) })
	if len(begun) == 1 && 2*len(folded) >= len(fold(begun[0])) {
		found = append(found, candidate{name: begun[0]})
	}
	for _, v := range valid {
		if d := distance(folded, fold(v)); d <= len(name)/3 && (len(found) == 0 || v != found[0].name) {
			found = append(found, candidate{v, d})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, 0, maxNear)
	for _, c := range found[:min(maxNear, len(found))] {
		names = append(names, c.name)
	}
	return names
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
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}
