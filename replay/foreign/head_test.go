package foreign

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReadObject(t *testing.T) {
	for _, c := range []struct {
		line string
		want Object
	}{
		{`{}`, Object{}},
		{`{`, Object{}},
		{`{"type":"a\n","n":12,"o":{"x":["}\"",{}]},"s":"\\","t":true}`, Object{"type": "a\n", "n": "", "o": "", "s": `\`, "t": ""}},
		{`{ "a" : 1 , "b" : "c" } `, Object{"a": "", "b": "c"}},
		{`{"a":"b","c":{"d`, Object{"a": "b", "c": ""}},
		{`{"a":"b","c":"d`, Object{"a": "b", "c": ""}},
		{`{"a":"b","c`, Object{"a": "b"}},
		{`{"a":"b"}{"c":1}`, Object{"a": "b"}},
		{`{"a":"b",1:2}`, Object{"a": "b"}},
		{`{"a"}`, Object{}},
	} {
		if diff := cmp.Diff(c.want, readObject([]byte(c.line))); diff != "" {
			t.Errorf("%s, -want +got:\n%s", c.line, diff)
		}
	}
}

// TestReadObjectAgrees compares with encoding/json, on objects that are whole.
func TestReadObjectAgrees(t *testing.T) {
	value := rapid.SampledFrom([]any{"", `a"b\`, "x", 1.5, nil, true, []any{"]", map[string]any{"}": 1}}, map[string]any{"a": []any{}}})
	rapid.Check(t, func(rt *rapid.T) {
		members := rapid.MapOfN(rapid.SampledFrom([]string{"type", `i"d`, `\`, "{", "n"}), value, 0, 5).Draw(rt, "members")
		line, err := json.Marshal(members)
		if err != nil {
			rt.Fatal(err)
		}
		want := make(Object)
		for name, v := range members {
			want[name], _ = v.(string)
		}
		if diff := cmp.Diff(want, readObject(line)); diff != "" {
			rt.Fatalf("%s, -want +got:\n%s", line, diff)
		}
	})
}

func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"a":"\`))
	f.Add([]byte(`{"a":}`))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _, _ = Detect(b, "") })
}
