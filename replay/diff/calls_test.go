package diff_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay/diff"
)

// call makes a call of "read", or of `read {"path":"a"}`.
func call(text string) diff.Call {
	for i := range text {
		if text[i] == ' ' {
			return diff.Call{Name: text[:i], Arguments: json.RawMessage(text[i+1:])}
		}
	}
	return diff.Call{Name: text}
}

func calls(texts ...string) []diff.Call {
	var list []diff.Call
	for _, text := range texts {
		list = append(list, call(text))
	}
	return list
}

func TestCompareCalls(t *testing.T) {
	tests := []struct {
		name      string
		want, got []diff.Call
		s         diff.Sequence
		m         diff.ArgumentMatch
		mismatch  []string
	}{
		{"the same", calls("a", "b"), calls("a", "b"), diff.Exact, "", nil},
		{"another order", calls("a", "b"), calls("b", "a"), diff.Exact, "", []string{"a was not called", "call 2, a, is not wanted"}},
		{"another order is no matter", calls("a", "b"), calls("b", "a"), diff.AnyOrder, "", nil},
		{"others between", calls("a", "b"), calls("x", "a", "y", "b", "z"), diff.InOrder, "", nil},
		{"repeats between", calls("a", "b", "a"), calls("b", "a", "a", "b", "b", "a"), diff.InOrder, "", nil},
		{"not in order", calls("a", "b"), calls("b", "x", "a"), diff.InOrder, "", []string{"a was not called"}},
		{"too often", calls("a"), calls("a", "a"), diff.AnyOrder, "", []string{"call 2, a, is not wanted"}},
		{"subset", calls("a", "b"), calls("b"), diff.Subset, "", nil},
		{"no subset", calls("a", "b"), calls("c"), diff.Subset, "", []string{"call 1, c, is not wanted"}},
		{"superset", calls("b"), calls("a", "b"), diff.Superset, "", nil},
		{"no superset", calls("b", "b"), calls("a", "b"), diff.Superset, "", []string{"b was not called"}},
		{"nothing wanted", nil, calls("a"), diff.InOrder, "", nil},
		{"nothing called", calls("a"), nil, diff.Exact, "", []string{"a was not called"}},
		{
			"arguments", calls(`a {"x":1,"y":2}`), calls(`a {"y":2.0,"x":1}`), diff.Exact, diff.MatchExact, nil,
		},
		{
			"other arguments", calls(`a {"x":1}`), calls(`a {"x":2}`), diff.Exact, diff.MatchExact,
			[]string{`a {"x":1} was not called, call 1 came near: $.x is 2 and not 1`},
		},
		{"more arguments", calls(`a {"x":{"y":1}}`), calls(`a {"x":{"y":1,"z":2},"w":3}`), diff.Exact, diff.MatchPartial, nil},
		{
			"longer array", calls(`a {"x":[1]}`), calls(`a {"x":[1,2]}`), diff.Exact, diff.MatchPartial,
			[]string{`a {"x":[1]} was not called, call 1 came near:`},
		},
		{"arguments do not matter", calls(`a {"x":1}`), calls(`a {"x":2}`), diff.Exact, diff.MatchIgnore, nil},
		{"no arguments wanted", calls(`a`), calls(`a {"x":2}`), diff.Exact, diff.MatchExact, nil},
		{
			"the vague one makes room", calls(`a`, `a {"x":1}`), calls(`a {"x":1}`, `a {"x":2}`), diff.AnyOrder, diff.MatchPartial, nil,
		},
		{
			"partners move on", calls(`a {"x":1}`, `a {"y":1}`, `a {"x":1,"y":1}`), calls(`a {"x":1,"y":1,"z":1}`, `a {"x":1}`, `a {"y":1,"z":1}`), diff.AnyOrder, diff.MatchPartial, nil,
		},
		{
			"big numbers", calls(`a {"x":9007199254740993}`), calls(`a {"x":9007199254740992}`), diff.Superset, diff.MatchExact,
			[]string{`a {"x":9007199254740993} was not called, call 1 came near: $.x is 9007199254740992 and not 9007199254740993`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, m := range diff.CompareCalls(test.want, test.got, test.s, test.m) {
				got = append(got, m.Describe(test.want, test.got))
			}
			if d := cmp.Diff(test.mismatch, got); d != "" {
				t.Errorf("mismatches (-want +got):\n%s", d)
			}
		})
	}
}

// holds decides a relation by trying every way to pair calls.
func holds(want, got []diff.Call, s diff.Sequence, fits func(w, g diff.Call) bool) bool {
	switch s {
	case diff.Exact:
		return slices.EqualFunc(want, got, fits)
	case diff.InOrder:
		for _, g := range got {
			if len(want) > 0 && fits(want[0], g) {
				want = want[1:]
			}
		}
		return len(want) == 0
	case diff.AnyOrder:
		return len(want) == len(got) && injects(want, got, fits)
	case diff.Subset:
		return injects(got, want, func(g, w diff.Call) bool { return fits(w, g) })
	}
	return injects(want, got, fits)
}

func injects(from, into []diff.Call, fits func(a, b diff.Call) bool) bool {
	if len(from) == 0 {
		return true
	}
	for i := range into {
		if fits(from[0], into[i]) && injects(from[1:], slices.Delete(slices.Clone(into), i, i+1), fits) {
			return true
		}
	}
	return false
}

// No mismatch is reported exactly if the relation holds.
func TestCompareCallsDecides(t *testing.T) {
	arguments := func(c diff.Call) map[string]any {
		m := map[string]any{}
		if c.Arguments != nil {
			if err := json.Unmarshal(c.Arguments, &m); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	fits := map[diff.ArgumentMatch]func(w, g diff.Call) bool{
		diff.MatchIgnore: func(w, g diff.Call) bool { return w.Name == g.Name },
		diff.MatchExact: func(w, g diff.Call) bool {
			return w.Name == g.Name && (w.Arguments == nil || cmp.Equal(arguments(w), arguments(g)))
		},
		diff.MatchPartial: func(w, g diff.Call) bool {
			have := arguments(g)
			for name, v := range arguments(w) {
				if other, ok := have[name]; !ok || other != v {
					return false
				}
			}
			return w.Name == g.Name
		},
	}
	one := rapid.Custom(func(t *rapid.T) diff.Call {
		c := diff.Call{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
		case 1:
			c.Arguments = json.RawMessage(`{}`)
		case 2:
			c.Arguments = json.RawMessage(fmt.Sprintf(`{"x":%d}`, rapid.IntRange(0, 2).Draw(t, "x")))
		default:
			c.Arguments = json.RawMessage(fmt.Sprintf(`{"y":%d,"x":%d}`, rapid.IntRange(0, 1).Draw(t, "y"), rapid.IntRange(0, 1).Draw(t, "x")))
		}
		return c
	})
	rapid.Check(t, func(t *rapid.T) {
		want, got := rapid.SliceOfN(one, 0, 6).Draw(t, "want"), rapid.SliceOfN(one, 0, 6).Draw(t, "got")
		s := rapid.SampledFrom(diff.Sequences()).Draw(t, "sequence")
		m := rapid.SampledFrom(diff.ArgumentMatches()).Draw(t, "match")
		list := diff.CompareCalls(want, got, s, m)
		if ok := holds(want, got, s, fits[m]); ok != (len(list) == 0) {
			t.Fatalf("%s %s holds: %v, mismatches %+v", s, m, ok, list)
		}
	})
}
