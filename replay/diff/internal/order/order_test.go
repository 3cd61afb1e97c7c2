package order_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay/diff/internal/order"
)

// TestBoth: whatever names come, move and go, the orders are those of lists that
// are sorted anew, and sums are the same exactly for the same orders.
func TestBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		both := order.New()
		places := map[string][2]int{}
		sums := map[[2]uint64]string{}
		for next := range rapid.IntRange(1, 60).Draw(t, "changes") {
			name := fmt.Sprint(rapid.IntRange(0, 25).Draw(t, "name"))
			if rapid.IntRange(0, 3).Draw(t, "drop") == 0 {
				both.Drop(name)
				delete(places, name)
			} else {
				at := [2]int{2*next + rapid.IntRange(0, 1).Draw(t, "a"), 2*next + 1}
				if rapid.Bool().Draw(t, "early") {
					at[1] = -at[1]
				}
				both.Set(name, at[0], at[1])
				places[name] = at
			}
			a, b := both.Names()
			wantA, wantB := sorted(places, 0), sorted(places, 1)
			if fmt.Sprint(a) != fmt.Sprint(wantA) || fmt.Sprint(b) != fmt.Sprint(wantB) || both.Same() != slices.Equal(wantA, wantB) {
				t.Fatalf("%v and %v, the same %t; want %v and %v", a, b, both.Same(), wantA, wantB)
			}
			x, y := both.Sums()
			if was, ok := sums[[2]uint64{x, y}]; ok && was != fmt.Sprint(wantA, wantB) {
				t.Fatalf("%v and %v have the sums of %s", wantA, wantB, was)
			}
			sums[[2]uint64{x, y}] = fmt.Sprint(wantA, wantB)
		}
	})
}

func sorted(places map[string][2]int, side int) []string {
	return slices.SortedFunc(maps.Keys(places), func(x, y string) int { return places[x][side] - places[y][side] })
}
