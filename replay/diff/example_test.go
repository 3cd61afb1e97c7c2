package diff_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

const header = `{"type":"session","version":3,"id":"s","timestamp":"2030-01-02T03:00:00.000Z","cwd":"/home/user/shop"}
`

// Two histories that part at a tool call.
func Example() {
	a := header + `{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":"How many apples?"}}
{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"count","arguments":{"shelf":"apples"}}],"stopReason":"toolUse"}}
`
	b := strings.ReplaceAll(a, `{"shelf":"apples"}`, `{"shelf":"pears","deep":true}`)

	o := diff.Options{Ignore: diff.Volatile()}
	ctx := context.Background()
	var sides [2]*diff.History
	for i, content := range []string{a, b} {
		f, err := foreign.Open(strings.NewReader(content), string("ab"[i]), "", transcript.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		h, err := diff.Read(ctx, f, strings.NewReader(content), o)
		if err != nil {
			fmt.Println(err)
			return
		}
		sides[i] = h
	}
	result, err := diff.Compare(ctx, sides[0], sides[1], o)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := result.WriteText(os.Stdout, diff.TextOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// --- a  1 turn, 2 messages
	// +++ b  1 turn, 2 messages
	// equal for 0 turns, 1 message
	//
	// first divergence
	//   - line 3, turn 1, assistant: > count {"shelf":"apples"}
	//   + line 3, turn 1, assistant: > count {"shelf":"pears","deep":true}
	//
	// arguments 1 added, 1 changed
	//   + count $.arguments.deep  a:3 turn 1 | b:3 turn 1
	//       + true
	//   ~ count $.arguments.shelf  a:3 turn 1 | b:3 turn 1
	//       - "apples"
	//       + "pears"
}
