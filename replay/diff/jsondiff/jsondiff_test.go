package jsondiff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

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
		if same := Equal(a, b); same != (len(fields) == 0) {
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
			for _, f := range Fields(Decode([]byte(test.a)), Decode([]byte(test.b))) {
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
