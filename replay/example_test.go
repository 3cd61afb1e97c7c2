package replay_test

import (
	"fmt"
	"os"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Which tools did the model have when its third request went out?
func Example() {
	file, err := os.Open("testdata/turns.jsonl")
	if err != nil {
		panic(err)
	}
	defer file.Close()
	tree, err := replay.Read(transcript.Lines(file, transcript.Options{}))
	if err != nil {
		panic(err)
	}
	state, at, err := tree.At(replay.Cut{Turn: 3}, "")
	if err != nil {
		panic(err)
	}
	fmt.Printf("after line %d (%s)\n", at.Line, tree.Knowledge())
	for _, tool := range state.Tools() {
		fmt.Printf("%s, declared on line %d\n", tool.Name, tool.Line)
	}
	for _, gone := range state.Removed() {
		fmt.Printf("%s, removed on line %d\n", gone.Name, gone.Line)
	}
	// Output:
	// after line 11 (exact)
	// read, declared on line 2
	// bash, removed on line 10
}
