package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func aligned(a, b string) string {
	var pairs []string
	var list []pair
	align(strings.Split(a, ""), strings.Split(b, ""), func(i, j int) { list = append(list, pair{i, j}) })
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
		align(a, b, func(i, j int) { list = append(list, pair{i, j}) })
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
	align(a, b, func(i, j int) { pairs[i] = j })
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
	align(a, b, func(i, j int) { n++ })
	if n < 2900 {
		t.Errorf("%d pairs of %d", n, len(a))
	}
}

func TestNormal(t *testing.T) {
	same := [][]json.Number{
		{"1", "1.0", "10e-1", "0.1E+1", "1e0"},
		{"0", "-0", "0.000", "0e99"},
		{"100", "1e2", "1.00e+2"},
		{"-12.5", "-125e-1"},
		{"9007199254740993"},
		{"9007199254740992"},
		{"1e999999999999"},
		{"1e99999999999999999999"},
	}
	for i, group := range same {
		for _, n := range group {
			for j, other := range same {
				if got := sameNumber(n, other[0]); got != (i == j) {
					t.Errorf("%s and %s are the same: %v", n, other[0], got)
				}
			}
		}
	}
}

// Fields finds nothing exactly if digests agree.
func TestFieldsAgreeWithDigests(t *testing.T) {
	var value *rapid.Generator[any]
	value = rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return json.Number(rapid.SampledFrom([]string{"1", "1.0", "2", "1e0"}).Draw(t, "number"))
		case 3:
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "items") {
				list = append(list, value.Draw(t, "item"))
			}
			return list
		case 4:
			members := map[string]any{}
			for range rapid.IntRange(0, 3).Draw(t, "members") {
				members[rapid.SampledFrom([]string{"a", "b", "c d"}).Draw(t, "name")] = value.Draw(t, "member")
			}
			return members
		}
		return rapid.SampledFrom([]string{"", "x", "1"}).Draw(t, "text")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		fields := Fields(a, b)
		if same := equal(a, b); same != (len(fields) == 0) {
			t.Fatalf("equal %v, fields %+v", same, fields)
		}
	})
}

func TestFields(t *testing.T) {
	tests := []struct{ name, a, b, want string }{
		{"a member", `{"x":1}`, `{"x":2}`, "$.x 1 2"},
		{"a missing member", `{"x":1}`, `{}`, "$.x 1 -"},
		{"null is a value", `{"x":null}`, `{}`, "$.x <nil> -"},
		{"an odd name", `{"a b":1}`, `{"a b":2}`, `$["a b"] 1 2`},
		{"an item inserted", `[1,2,3]`, `[1,9,2,3]`, "$[1] - 9"},
		{"an item of the same name", `[{"name":"a"},{"name":"b","x":1}]`, `[{"name":"b","x":2}]`, "$[0] map[name:a] -, $[1].x 1 2"},
		{"another type", `{"x":"1"}`, `{"x":1}`, "$.x 1 1"},
		{"the whole", `1`, `"x"`, "$ 1 x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range Fields(decode([]byte(test.a)), decode([]byte(test.b))) {
				a, b := "-", "-"
				if f.Kind != Added {
					a = fmt.Sprint(f.A)
				}
				if f.Kind != Removed {
					b = fmt.Sprint(f.B)
				}
				got = append(got, f.Path+" "+a+" "+b)
			}
			if d := cmp.Diff(test.want, strings.Join(got, ", ")); d != "" {
				t.Errorf("fields (-want +got):\n%s", d)
			}
		})
	}
}
