package verify

import (
	"cmp"
	"maps"
	"slices"
)

// nearest returns up to three ids that are spelled like id.
func nearest(rules []Rule, id string) []string {
	type candidate struct {
		id       string
		distance int
	}
	var found []candidate
	for _, r := range rules {
		if d := distance(id, r.ID); d <= max(2, len(id)/3) {
			found = append(found, candidate{r.ID, d})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.id, b.id))
	})
	ids := make([]string, 0, 3)
	for _, c := range found[:min(3, len(found))] {
		ids = append(ids, c.id)
	}
	return ids
}

// distance is the number of bytes to insert, delete or change between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
