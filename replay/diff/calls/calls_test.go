package calls_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/replay/diff/calls"
)

// call makes a call of "read", or of `read {"path":"a"}`.
func call(text string) calls.Call {
	for i := range text {
		if text[i] == ' ' {
			return calls.Call{Name: text[:i], Arguments: json.RawMessage(text[i+1:])}
		}
	}
	return calls.Call{Name: text}
}

func list(texts ...string) []calls.Call {
	var list []calls.Call
	for _, text := range texts {
		list = append(list, call(text))
	}
	return list
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name      string
		want, got []calls.Call
		s         calls.Sequence
		m         calls.ArgumentMatch
		mismatch  []string
	}{
		{"the same", list("a", "b"), list("a", "b"), calls.Exact, "", nil},
		{"another order", list("a", "b"), list("b", "a"), calls.Exact, "", []string{"a was not called", "call 2, a, is not wanted"}},
		{"another order is no matter", list("a", "b"), list("b", "a"), calls.AnyOrder, "", nil},
		{"others between", list("a", "b"), list("x", "a", "y", "b", "z"), calls.InOrder, "", nil},
		{"repeats between", list("a", "b", "a"), list("b", "a", "a", "b", "b", "a"), calls.InOrder, "", nil},
		{"not in order", list("a", "b"), list("b", "x", "a"), calls.InOrder, "", []string{"a was not called"}},
		{"too often", list("a"), list("a", "a"), calls.AnyOrder, "", []string{"call 2, a, is not wanted"}},
		{"subset", list("a", "b"), list("b"), calls.Subset, "", nil},
		{"no subset", list("a", "b"), list("c"), calls.Subset, "", []string{"call 1, c, is not wanted"}},
		{"superset", list("b"), list("a", "b"), calls.Superset, "", nil},
		{"no superset", list("b", "b"), list("a", "b"), calls.Superset, "", []string{"b was not called"}},
		{"nothing wanted", nil, list("a"), calls.InOrder, "", nil},
		{"nothing called", list("a"), nil, calls.Exact, "", []string{"a was not called"}},
		{
			"arguments", list(`a {"x":1,"y":2}`), list(`a {"y":2.0,"x":1}`), calls.Exact, calls.MatchExact, nil,
		},
		{
			"other arguments", list(`a {"x":1}`), list(`a {"x":2}`), calls.Exact, calls.MatchExact,
			[]string{`a {"x":1} was not called, call 1 came near: $.x is 2 and not 1`},
		},
		{"more arguments", list(`a {"x":{"y":1}}`), list(`a {"x":{"y":1,"z":2},"w":3}`), calls.Exact, calls.MatchPartial, nil},
		{
			"longer array", list(`a {"x":[1]}`), list(`a {"x":[1,2]}`), calls.Exact, calls.MatchPartial,
			[]string{`a {"x":[1]} was not called, call 1 came near:`},
		},
		{"arguments do not matter", list(`a {"x":1}`), list(`a {"x":2}`), calls.Exact, calls.MatchIgnore, nil},
		{"no arguments wanted", list(`a`), list(`a {"x":2}`), calls.Exact, calls.MatchExact, nil},
		{
			"the vague one makes room", list(`a`, `a {"x":1}`), list(`a {"x":1}`, `a {"x":2}`), calls.AnyOrder, calls.MatchPartial, nil,
		},
		{
			"partners move on", list(`a {"x":1}`, `a {"y":1}`, `a {"x":1,"y":1}`), list(`a {"x":1,"y":1,"z":1}`, `a {"x":1}`, `a {"y":1,"z":1}`), calls.AnyOrder, calls.MatchPartial, nil,
		},
		{
			"big numbers", list(`a {"x":9007199254740993}`), list(`a {"x":9007199254740992}`), calls.Superset, calls.MatchExact,
			[]string{`a {"x":9007199254740993} was not called, call 1 came near: $.x is 9007199254740992 and not 9007199254740993`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, m := range calls.Compare(test.want, test.got, test.s, test.m) {
				got = append(got, m.Describe(test.want, test.got))
			}
			if d := cmp.Diff(test.mismatch, got); d != "" {
				t.Errorf("mismatches (-want +got):\n%s", d)
			}
		})
	}
}

// holds decides a relation by trying every way to pair calls.
func holds(want, got []calls.Call, s calls.Sequence, fits func(w, g calls.Call) bool) bool {
	switch s {
	case calls.Exact:
		return slices.EqualFunc(want, got, fits)
	case calls.InOrder:
		for _, g := range got {
			if len(want) > 0 && fits(want[0], g) {
				want = want[1:]
			}
		}
		return len(want) == 0
	case calls.AnyOrder:
		return len(want) == len(got) && injects(want, got, fits)
	case calls.Subset:
		return injects(got, want, func(g, w calls.Call) bool { return fits(w, g) })
	}
	return injects(want, got, fits)
}

func injects(from, into []calls.Call, fits func(a, b calls.Call) bool) bool {
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
func TestCompareDecides(t *testing.T) {
	arguments := func(c calls.Call) map[string]any {
		m := map[string]any{}
		if c.Arguments != nil {
			if err := json.Unmarshal(c.Arguments, &m); err != nil {
				t.Fatal(err)
			}
		}
		return m
	}
	fits := map[calls.ArgumentMatch]func(w, g calls.Call) bool{
		calls.MatchIgnore: func(w, g calls.Call) bool { return w.Name == g.Name },
		calls.MatchExact: func(w, g calls.Call) bool {
			return w.Name == g.Name && (w.Arguments == nil || cmp.Equal(arguments(w), arguments(g)))
		},
		calls.MatchPartial: func(w, g calls.Call) bool {
			have := arguments(g)
			for name, v := range arguments(w) {
				if other, ok := have[name]; !ok || other != v {
					return false
				}
			}
			return w.Name == g.Name
		},
	}
	one := rapid.Custom(func(t *rapid.T) calls.Call {
		c := calls.Call{Name: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")}
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
		s := rapid.SampledFrom(calls.Sequences()).Draw(t, "sequence")
		m := rapid.SampledFrom(calls.ArgumentMatches()).Draw(t, "match")
		list := calls.Compare(want, got, s, m)
		if ok := holds(want, got, s, fits[m]); ok != (len(list) == 0) {
			t.Fatalf("%s %s holds: %v, mismatches %+v", s, m, ok, list)
		}
	})
}

// TestCompareIsLinear: four times as many calls allocate about four times as
// much, however few of them are those wanted.
func TestCompareIsLinear(t *testing.T) {
	numbered := func(n int, name string, from int) []calls.Call {
		made := make([]calls.Call, n)
		for i := range made {
			made[i] = calls.Call{Name: name, Arguments: fmt.Appendf(nil, `{"n":%d}`, from+i)}
		}
		return made
	}
	const n = 2000
	for name, got := range map[string]func(n int) []calls.Call{
		"the same":    func(n int) []calls.Call { return numbered(n, "a", 0) },
		"other names": func(n int) []calls.Call { return numbered(n, "b", 0) },
		"others":      func(n int) []calls.Call { return numbered(n, "a", n) },
		"half":        func(n int) []calls.Call { return numbered(n, "a", n/2) },
		"backwards": func(n int) []calls.Call {
			made := numbered(n, "a", 0)
			slices.Reverse(made)
			return made
		},
	} {
		for _, s := range calls.Sequences() {
			allocated := func(n int) uint64 {
				want, made := numbered(n, "a", 0), got(n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				calls.Compare(want, made, s, calls.MatchExact)
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			if ratio := float64(allocated(4*n)) / float64(allocated(n)); ratio > 5 {
				t.Errorf("%s, %s: %.1f times as much for four times as many", name, s, ratio)
			}
		}
	}
}
