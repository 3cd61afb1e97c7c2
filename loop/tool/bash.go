package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop"
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

func bash(o Options) loop.Tool {
	return loop.Tool{
		Tool: transcript.Tool{
			Name: "bash",
			Description: fmt.Sprintf("Run a shell command and give back what it prints and its exit status. "+
				"There is no terminal and no input. After %s the command is ended; so is whatever it leaves in the background when it exits. "+
				"Of long output the first and the last part are shown, %d bytes together.", o.Timeout, o.MaxOutput),
			Parameters: json.RawMessage(bashParameters),
		},
		Effects: loop.External,
		Run: func(ctx context.Context, call transcript.Call, progress func(loop.Result)) (loop.Result, error) {
			args, err := arguments[bashArguments](call)
			if err != nil {
				return loop.Result{}, err
			}
			return runShell(ctx, o, args, progress)
		},
	}
}

type bashArguments struct {
	Command string
	Timeout float64 // seconds
}

func runShell(ctx context.Context, o Options, args bashArguments, progress func(loop.Result)) (loop.Result, error) {
	path, err := shell()
	if err != nil {
		return loop.Result{}, err
	}
	timeout := o.Timeout
	if args.Timeout > 0 && args.Timeout < timeout.Seconds() {
		timeout = time.Duration(args.Timeout * float64(time.Second))
	}
	out := &live{capture: capture{max: o.MaxOutput}, progress: progress}
	p := process{argv: []string{path, "-c", args.Command}, dir: o.Dir, env: o.environment(), timeout: timeout, stdout: out, stderr: out}
	e, err := p.run(ctx)
	if err != nil {
		return loop.Result{}, err
	}
	return e.result(out.text(), &out.capture, timeout), nil
}

// result tells what a program printed and how it ended.
func (e *ending) result(text string, output *capture, timeout time.Duration) loop.Result {
	if note := e.note(timeout); note != "" {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += note
	}
	if text == "" {
		text = "(no output)"
	}
	r := answer(text)
	r.IsError = e.failed()
	d := programDetails{Signal: e.signal, TimedOut: e.timedOut, Aborted: e.aborted}
	if e.signal == "" {
		d.ExitCode = &e.code
	}
	if output.cut() {
		d.OutputBytes = output.total
	}
	r.Details = details(d)
	return r
}

// programDetails are the details of results of programs.
type programDetails struct {
	ExitCode    *int   `json:"exitCode,omitempty"`
	Signal      string `json:"signal,omitempty"`
	TimedOut    bool   `json:"timedOut,omitempty"`
	Aborted     bool   `json:"aborted,omitempty"`
	OutputBytes int64  `json:"outputBytes,omitempty"` // of all output, when only a part is shown
}

// live is a capture that shows its end while it grows.
type live struct {
	capture
	progress func(loop.Result)
	mu       sync.Mutex
	shown    time.Time
}

// Progress is shown in these steps: a flood of 50 MiB would otherwise be a
// thousand events, each with all the text so far.
const (
	progressEvery = 250 * time.Millisecond
	progressBytes = 4 << 10
)

// Write never fails.
func (l *live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.capture.Write(p)
	if now := time.Now(); l.progress != nil && now.Sub(l.shown) >= progressEvery {
		l.shown = now
		l.progress(answer(l.recent()))
	}
	return n, err
}

// recent is the end of the output so far.
func (l *live) recent() string {
	end := l.tail
	if len(end) == 0 {
		end = l.head
	}
	return valid(trimEnd(trimStart(string(end[max(0, len(end)-progressBytes):]))))
}
