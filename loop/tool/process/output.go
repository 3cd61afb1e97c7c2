package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/turnlog/turnlog/loop/tool"
)

// maxCommandOutput is what [Output] takes; a key or a token has a few KiB.
const maxCommandOutput = 64 << 10

// Output runs a program of the task's own, as one that knows a key, and returns
// what it wrote to standard output: with all of the environment, but otherwise
// like a tool, without input, in a process group, and ended with all that it
// started. No error repeats what the program wrote.
func Output(ctx context.Context, timeout time.Duration, argv ...string) ([]byte, error) {
	if len(argv) == 0 || argv[0] == "" {
		return nil, errors.New("there is no program to run")
	}
	out := &tool.Capture{Max: maxCommandOutput}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdout = os.Environ(), out
	e, err := run(ctx, cmd, timeout)
	switch {
	case err != nil:
		return nil, err
	case e.aborted:
		return nil, fmt.Errorf("%s was stopped: %w", argv[0], context.Cause(ctx))
	case e.timedOut:
		return nil, fmt.Errorf("%s took longer than %s", argv[0], timeout)
	case e.signal != "":
		return nil, fmt.Errorf("%s was ended by signal: %s", argv[0], e.signal)
	case e.code != 0:
		return nil, fmt.Errorf("%s ended with exit status %d", argv[0], e.code)
	case out.Cut():
		return nil, fmt.Errorf("%s printed more than %d bytes", argv[0], maxCommandOutput)
	}
	return []byte(out.Text()), nil
}
