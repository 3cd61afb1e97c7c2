package schema

import (
	"encoding/json"
	"testing"
)

// FuzzConvert holds that nothing panics, that what Convert returns is valid,
// and that converting it again changes nothing.
func FuzzConvert(f *testing.F) {
	for _, c := range table(f) {
		f.Add([]byte(c.Schema), []byte(c.Args))
	}
	f.Add([]byte(`{"anyOf": [{"$ref": "#"}, {"type": "array", "items": {"$ref": "#"}}]}`), []byte(`[[["1"]]]`))
	f.Add([]byte(`{"type": ["array", "integer"], "items": {"$ref": "#"}}`), []byte(`"1"`))
	f.Add([]byte(`{"patternProperties": {"a": {"type": "string"}, "b": {"type": "integer"}}}`), []byte(`{"ab": 1}`))
	f.Fuzz(func(t *testing.T, document, args []byte) {
		s, err := Compile(document)
		if err != nil {
			return
		}
		got, err := s.Convert(args)
		if err != nil {
			if again, e := s.Convert(args); e == nil || e.Error() != err.Error() {
				t.Errorf("refused as %v, then %v %s", err, e, again)
			}
			return
		}
		if !json.Valid(got) {
			t.Fatalf("not JSON: %s", got)
		}
		if err := s.Validate(got); err != nil {
			t.Fatalf("%s became %s, which is refused: %v", args, got, err)
		}
		if twice, err := s.Convert(got); err != nil || string(twice) != string(got) {
			t.Fatalf("%s became %s, then %s, %v", args, got, twice, err)
		}
	})
}
