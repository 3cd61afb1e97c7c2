package loose

import (
	"encoding/json"
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
