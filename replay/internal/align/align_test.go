package align

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func aligned(a, b string) string {
	var pairs []string
	var list []pair
	Keys(strings.Split(a, ""), strings.Split(b, ""), func(i, j int) { list = append(list, pair{i, j}) })
	slices.SortFunc(list, func(x, y pair) int { return x.a - y.a })
	for _, p := range list {
		pairs = append(pairs, fmt.Sprintf("%d-%d", p.a, p.b))
	}
	return strings.Join(pairs, " ")
}

func TestAlign(t *testing.T) {
	tests := []struct{ name, a, b, want string }{
		{"the same", "abc", "abc", "0-0 1-1 2-2"},
		{"nothing in common", "abc", "xyz", ""},
		{"inserted in front", "bc", "abc", "0-1 1-2"},
		{"dropped in the middle", "abc", "ac", "0-0 2-1"},
		{"replaced", "abc", "axc", "0-0 2-2"},
		{"what crosses most gives way", "xaaay", "yaaax", "1-1 2-2 3-3"},
		{"nothing unique", "aabb", "abab", "0-0 2-1 3-3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := aligned(test.a, test.b); got != test.want {
				t.Errorf("pairs %q, want %q", got, test.want)
			}
		})
	}
}

// Pairs are equal items, ascend on both sides, and leave no gap in which an
// item has an equal one.
func TestAlignPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.IntRange(0, 8), 0, 30)
		a, b := items.Draw(t, "a"), items.Draw(t, "b")
		var list []pair
		Keys(a, b, func(i, j int) { list = append(list, pair{i, j}) })
		slices.SortFunc(list, func(x, y pair) int { return x.a - y.a })
		before := pair{-1, -1}
		for _, p := range append(list, pair{len(a), len(b)}) {
			if p.a < len(a) && a[p.a] != b[p.b] || p.a <= before.a || p.b <= before.b {
				t.Fatalf("pairs %v", list)
			}
			for i := before.a + 1; i < p.a; i++ {
				if slices.Contains(b[before.b+1:p.b], a[i]) {
					t.Fatalf("pairs %v leave %d alone", list, a[i])
				}
			}
			before = p
		}
	})
}

// In a big gap what is unique holds.
func TestAlignByUniqueItems(t *testing.T) {
	var a, b []int
	for i := range 1000 {
		a = append(a, i, -1)
		if i != 500 {
			b = append(b, i, -1)
		}
	}
	b = append([]int{-2}, append(b, -3)...)
	pairs := map[int]int{}
	Keys(a, b, func(i, j int) { pairs[i] = j })
	for i := range a {
		want, ok := i+1, true
		switch {
		case i > 1001:
			want = i - 1
		case i >= 1000:
			want, ok = 0, false
		}
		if got, there := pairs[i]; got != want || there != ok {
			t.Fatalf("item %d is paired with %d, %v", i, got, there)
		}
	}
}

// Big gaps with nothing unique stay linear; the table is not used for them.
func TestAlignBigGap(t *testing.T) {
	a, b := make([]int, 3000), make([]int, 3100)
	for i := range a {
		a[i] = i % 1000
	}
	for i := range b {
		b[i] = (i + 7) % 1000
	}
	n := 0
	Keys(a, b, func(i, j int) { n++ })
	if n < 2900 {
		t.Errorf("%d pairs of %d", n, len(a))
	}
}
