// Command turnlog runs headless agents from task files and replays, verifies
// and diffs the transcripts they leave. See README.md, or turnlog --help.
package main

import (
	"context"
	"os"

	"github.com/turnlog/turnlog/cmd"
)

func main() { os.Exit(cmd.Main(context.Background(), os.Args[1:], cmd.System())) }
