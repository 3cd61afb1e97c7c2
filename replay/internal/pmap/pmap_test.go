package pmap_test

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay/internal/pmap"
)

// version is a map and what it has to hold.
type version struct {
	m    pmap.Map[int, string]
	want map[int]string
}

// history draws versions, each made of any earlier one by one change.
func history(t *rapid.T) []version {
	versions := []version{{want: map[int]string{}}}
	key := rapid.IntRange(0, 60)
	for range rapid.IntRange(1, 120).Draw(t, "changes") {
		v := versions[rapid.IntRange(max(0, len(versions)-4), len(versions)-1).Draw(t, "from")]
		next := version{want: maps.Clone(v.want)}
		k := key.Draw(t, "key")
		if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
			next.m = v.m.Delete(k)
			delete(next.want, k)
		} else {
			value := rapid.StringN(1, 1, -1).Draw(t, "value")
			next.m = v.m.Set(k, value)
			next.want[k] = value
		}
		versions = append(versions, next)
	}
	return versions
}

// TestVersions: every version is what a Go map would be, also after others
// were made of it.
func TestVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for i, v := range history(t) {
			if got := maps.Collect(v.m.All()); !maps.Equal(got, v.want) || v.m.Len() != len(v.want) {
				t.Fatalf("version %d: %v, length %d, want %v", i, got, v.m.Len(), v.want)
			}
			keys := slices.Collect(first(v.m.All()))
			if !slices.IsSorted(keys) {
				t.Fatalf("version %d: not in order: %v", i, keys)
			}
			for k := range 61 {
				got, ok := v.m.Get(k)
				if want, there := v.want[k]; got != want || ok != there {
					t.Fatalf("version %d: key %d is %q, %t", i, k, got, ok)
				}
				at, found := slices.BinarySearch(keys, k)
				next := at
				if found {
					next++
				}
				before, after := v.m.Around(k)
				if at > 0 && before != v.want[keys[at-1]] || at == 0 && before != "" || next < len(keys) && after != v.want[keys[next]] || next == len(keys) && after != "" {
					t.Fatalf("version %d: %q and %q around %d", i, before, after, k)
				}
			}
			low, _, ok := v.m.Min()
			if ok != (len(keys) > 0) || ok && low != keys[0] {
				t.Fatalf("version %d: begins with %d, want %v", i, low, keys)
			}
		}
	})
}

// TestChanges compares any two versions.
func TestChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		versions := history(t)
		a, b := rapid.SampledFrom(versions).Draw(t, "a"), rapid.SampledFrom(versions).Draw(t, "b")
		var want []int
		for k := range 61 {
			x, inA := a.want[k]
			y, inB := b.want[k]
			if x != y || inA != inB {
				want = append(want, k)
			}
		}
		if got := slices.Collect(pmap.Changes(a.m, b.m)); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for range pmap.Changes(a.m, b.m) {
			break // stops where it is told to
		}
	})
}

// TestShapeIsFree: keys in order, in the reverse order and in no order all cost
// the same, and so does comparing two versions that differ in one key.
func TestShapeIsFree(t *testing.T) {
	const n = 1 << 14
	var up, down pmap.Map[int, int]
	for i := range n {
		up, down = up.Set(i, i), down.Set(n-1-i, n-1-i)
	}
	for name, m := range map[string]pmap.Map[int, int]{"up": up, "down": down} {
		cost := testing.AllocsPerRun(100, func() { m.Set(n/2, -1) })
		if cost > 64 {
			t.Errorf("%s: one change allocates %.0f times", name, cost)
		}
	}
	other := up.Set(n/3, -1).Delete(n / 2)
	cost := testing.AllocsPerRun(100, func() {
		if got := slices.Collect(pmap.Changes(up, other)); !slices.Equal(got, []int{n / 3, n / 2}) {
			t.Errorf("changes are %v", got)
		}
	})
	if cost > 200 {
		t.Errorf("comparing two versions allocates %.0f times", cost)
	}
}

func first[K cmp.Ordered, V any](seq iter.Seq2[K, V]) iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range seq {
			if !yield(k) {
				return
			}
		}
	}
}
