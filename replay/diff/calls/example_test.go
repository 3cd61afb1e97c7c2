package calls_test

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/diff/calls"
)

// What keeps the calls that were made from being those wanted.
func Example() {
	want := []calls.Call{{Name: "read", Arguments: []byte(`{"path":"a.txt"}`)}, {Name: "write"}}
	got := []calls.Call{{Name: "read", Arguments: []byte(`{"path":"b.txt","limit":10}`)}, {Name: "ls"}, {Name: "write"}}
	for _, m := range calls.Compare(want, got, calls.InOrder, calls.MatchPartial) {
		fmt.Println(m.Describe(want, got))
	}
	// Output:
	// read {"path":"a.txt"} was not called, call 1 came near: $.path is "b.txt" and not "a.txt"
}
