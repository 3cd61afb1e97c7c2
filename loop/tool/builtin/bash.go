package builtin

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/process"
	"github.com/turnlog/turnlog/replay/transcript"
)

const bashParameters = `{
  "type": "object",
  "properties": {
    "command": {"type": "string", "minLength": 1, "description": "Shell command to run in the working directory."},
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds after which the command is ended; cannot exceed the tool's own limit."}
  },
  "required": ["command"],
  "additionalProperties": false
}`

func bash(o tool.Options) loop.Tool {
	return loop.Tool{
		Tool: declared("bash", fmt.Sprintf("Run a shell command and give back what it prints and its exit status. "+
			"There is no terminal and no input. After %s the command is ended; so is whatever it leaves in the background when it exits. "+
			"Of long output the first and the last part are shown, %d bytes together.", o.Timeout, o.MaxOutput), bashParameters),
		Effects:   loop.External,
		Arguments: map[string]loop.Argument{"command": loop.Shell},
		Run: func(ctx context.Context, call transcript.Call, progress func(loop.Result)) (loop.Result, error) {
			args, err := arguments[bashArguments](call)
			if err != nil {
				return loop.Result{}, err
			}
			path, err := shell()
			if err != nil {
				return loop.Result{}, err
			}
			timeout := o.Timeout
			if args.Timeout > 0 && args.Timeout < timeout.Seconds() {
				timeout = time.Duration(args.Timeout * float64(time.Second))
			}
			run := process.Call{Argv: []string{path, "-c", args.Command}, Timeout: timeout}
			return run.Run(ctx, o, progress)
		},
	}
}

type bashArguments struct {
	Command string
	Timeout float64 // seconds; 0 is the tool's own limit
}

// shell is the program that runs a command line.
func shell() (string, error) {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is neither bash nor sh in PATH")
}
