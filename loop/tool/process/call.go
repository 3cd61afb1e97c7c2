package process

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
)

// Call is one run of a program for a call of the model.
type Call struct {
	Argv    []string
	Stdin   []byte // nil: nothing to read
	Timeout time.Duration
	Apart   bool // what goes to stderr is shown after the output, not among it
}

// Run gives the model what the program prints and how it ends. The error says
// why it could not be started.
func (c *Call) Run(ctx context.Context, o tool.Options, progress func(loop.Result)) (loop.Result, error) {
	out := &live{Capture: tool.Capture{Max: o.MaxOutput}, progress: progress}
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = o.Dir, Environment(o), out, out
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	apart := tool.Capture{Max: o.MaxOutput / 4}
	if c.Apart {
		cmd.Stderr = &apart
	}
	e, err := run(ctx, cmd, c.Timeout)
	if err != nil {
		return loop.Result{}, err
	}
	text := out.Text()
	if said := apart.Text(); said != "" {
		text = withLine(text, "[stderr]\n"+said)
	}
	if note := e.note(c.Timeout); note != "" {
		text = withLine(text, note)
	}
	if text == "" {
		text = "(no output)"
	}
	r := tool.Text(text, e.details(&out.Capture))
	r.IsError = e != ending{}
	return r, nil
}

// withLine puts more on a line of its own.
func withLine(text, more string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + more
}

// ending is how a process ended; the zero value is a clean exit.
type ending struct {
	code     int    // exit status; -1 after a signal
	signal   string // that ended it
	timedOut bool
	aborted  bool
}

// run starts a program and returns when it and all it left behind have ended.
func run(ctx context.Context, cmd *exec.Cmd, timeout time.Duration) (ending, error) {
	child, err := Start(cmd)
	if err != nil {
		return ending{}, fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}
	var e ending
	select {
	case <-child.exited:
	case <-time.After(timeout):
		e.timedOut = true
		child.Stop()
	case <-ctx.Done():
		e.aborted = true
		child.Stop()
	}
	state := child.Reap()
	e.code = state.ExitCode()
	if e.code < 0 {
		e.signal = signalName(state)
	}
	return e, nil
}

// note tells the model how a process ended; "" after a clean exit.
func (e ending) note(timeout time.Duration) string {
	switch {
	case e.aborted:
		return "[aborted]"
	case e.timedOut:
		return fmt.Sprintf("[timed out after %s; the program and all it had started were ended]", timeout)
	case e.signal != "":
		return fmt.Sprintf("[ended by signal: %s]", e.signal)
	case e.code != 0:
		return fmt.Sprintf("[exit status %d]", e.code)
	default:
		return ""
	}
}

// details are those of the result of a program.
type details struct {
	ExitCode    *int   `json:"exitCode,omitempty"`
	Signal      string `json:"signal,omitempty"`
	TimedOut    bool   `json:"timedOut,omitempty"`
	Aborted     bool   `json:"aborted,omitempty"`
	OutputBytes int64  `json:"outputBytes,omitempty"` // of all output, when only a part is shown
}

func (e ending) details(output *tool.Capture) details {
	d := details{Signal: e.signal, TimedOut: e.timedOut, Aborted: e.aborted}
	if e.signal == "" {
		d.ExitCode = &e.code
	}
	if output.Cut() {
		d.OutputBytes = output.Total
	}
	return d
}

// live is a capture that shows its end while it grows.
type live struct {
	tool.Capture
	progress func(loop.Result) // nil shows nothing
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
	n, err := l.Capture.Write(p)
	if now := time.Now(); l.progress != nil && now.Sub(l.shown) >= progressEvery {
		l.shown = now
		l.progress(tool.Text(l.Recent(progressBytes), nil))
	}
	return n, err
}
