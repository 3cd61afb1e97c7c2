package loose

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A string without broken characters is read as encoding/json reads it.
func TestUnquoteAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(rapid.String().Draw(t, "text"))
		if err != nil {
			t.Skip()
		}
		if rapid.Bool().Draw(t, "escaped") {
			raw = []byte(`"\b\f\n\r\t\/\\\u0041\ud83d\ude00` + string(raw[1:]))
		}
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		var f Text
		if _ = f.UnmarshalJSON(raw); f.String() != want {
			t.Fatalf("%s: got %q, want %q", raw, f, want)
		}
	})
}

// A character that was cut apart is joined, and nothing else is held back.
func TestJoiner(t *testing.T) {
	for name, c := range map[string]struct{ pieces, want []string }{
		"bytes":               {[]string{"a\xf0\x9f", "\x98\x80b"}, []string{"a", "😀b", ""}},
		"surrogates":          {[]string{`a\uD83D`, ``, `\ude00b`}, []string{"a", "", "😀b", ""}},
		"a half at the end":   {[]string{`a\ud83d`}, []string{"a", "\uFFFD"}},
		"the other half":      {[]string{`a\ude00`, `b`}, []string{"a\uFFFD", "b", ""}},
		"an escaped escape":   {[]string{`a\\ud83d`, `b`}, []string{`a\ud83d`, "b", ""}},
		"behind a backslash":  {[]string{`a\\\ud83d`, `\ude00`}, []string{`a\`, "😀", ""}},
		"no character at all": {[]string{"a\xff", "\xfe"}, []string{"a\uFFFD", "\uFFFD", ""}},
	} {
		var j Joiner
		var got []string
		for _, p := range c.pieces {
			got = append(got, j.Push(Text(p)))
		}
		if got = append(got, j.Flush()); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
