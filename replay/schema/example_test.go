package schema_test

import (
	"encoding/json"
	"fmt"

	"github.com/turnlog/turnlog/replay/schema"
)

// What a model sent is converted where nothing is lost, and refused with the
// reasons where something would be.
func Example() {
	s, err := schema.Compile(json.RawMessage(`{
		"type": "object",
		"properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}}, "note": {"type": "string"}},
		"required": ["id"]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	args, err := s.Convert(json.RawMessage(`{"id": "2512292042121000001", "tags": "new", "note": null}`))
	fmt.Println(string(args), err)
	_, err = s.Convert(json.RawMessage(`{"id": "", "tags": [1, {}]}`))
	fmt.Println(err)
	// Output:
	// {"id":2512292042121000001,"tags":["new"]} <nil>
	//   - id: expected integer, got string
	//   - tags.1: expected string, got object
}
