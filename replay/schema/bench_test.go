package schema

import (
	"encoding/json"
	"testing"
)

// BenchmarkConvert is one call with arguments that are valid, and one with
// arguments that are converted.
func BenchmarkConvert(b *testing.B) {
	s, err := Compile(json.RawMessage(`{
		"type": "object",
		"properties": {"path": {"type": "string"}, "offset": {"type": "integer", "minimum": 1}, "limit": {"type": "integer"}},
		"required": ["path"],
		"additionalProperties": false
	}`))
	if err != nil {
		b.Fatal(err)
	}
	for _, args := range []string{
		`{"path": "loop/loop.go", "offset": 10, "limit": 20}`,
		`{"path": "loop/loop.go", "offset": "10", "limit": null}`,
	} {
		b.Run(args, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Convert(json.RawMessage(args)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
