package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/builtin"
	"github.com/turnlog/turnlog/replay/transcript"
)

// A built-in tool works below its directory and nowhere else.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("hello\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	read, err := builtin.All().New("read", tool.Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, args := range []string{`{"path": "note.txt"}`, `{"path": "missing.txt"}`} {
		r, err := read.Run(context.Background(), transcript.Call{Name: "read", Arguments: json.RawMessage(args)}, nil)
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Print(r.Content[0].Text)
	}
	// Output:
	// hello
	// error: no such file or directory: missing.txt
}
