package cmd

// nearest returns the name that is fewest edits away from s, "" if none is
// close enough to be what was meant.
func nearest(s string, names []string) string {
	best, at := "", max(2, len(s)/3)+1
	for _, n := range names {
		if d := distance(s, n); d < at {
			best, at = n, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
