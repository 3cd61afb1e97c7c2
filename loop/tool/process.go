package tool

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// process is one run of a program.
type process struct {
	argv    []string
	dir     string
	env     []string
	stdin   []byte // nil: nothing to read
	timeout time.Duration

	stdout, stderr io.Writer // may be one and the same; written to by one goroutine each
}

// ending is how a process ended.
type ending struct {
	code     int    // exit status; -1 after a signal
	signal   string // that ended it
	timedOut bool
	aborted  bool
}

// Ending a process takes these times: to end by itself when asked to, and for
// its last output to arrive when all that could write are gone.
const (
	grace    = 2 * time.Second
	lingers  = 200 * time.Millisecond // for what stays behind when the process has ended
	drain    = time.Second
	insisted = 5 * time.Second
)

// markName is the environment variable by which a descendant is recognised
// that left the process group and lost its parent.
const markName = "TURNLOG_CALL"

// run starts the process and returns when it and all it left behind have
// ended. The error says why it could not be started.
func (p *process) run(ctx context.Context) (ending, error) {
	adopt()
	mark := markName + "=" + rand.Text()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(p.env[:len(p.env):len(p.env)], mark)
	isolate(cmd)
	streams, err := p.connect(cmd)
	if err != nil {
		return ending{}, err
	}
	if err := cmd.Start(); err != nil {
		streams.abandon()
		return ending{}, fmt.Errorf("start %s: %w", p.argv[0], err)
	}
	streams.begin()
	f := newFamily(cmd.Process.Pid, mark)
	defer f.leave()
	exited := make(chan struct{})
	go func() {
		awaitExit(cmd)
		close(exited)
	}()
	e := p.wait(ctx, f, exited)
	f.end(lingers)
	streams.finish()
	e.status(cmd)
	return e, nil
}

// wait returns when the process has ended, by itself or not.
func (p *process) wait(ctx context.Context, f *family, exited <-chan struct{}) ending {
	var e ending
	timer := time.NewTimer(p.timeout)
	defer timer.Stop()
	select {
	case <-exited:
		return e
	case <-timer.C:
		e.timedOut = true
	case <-ctx.Done():
		e.aborted = true
	}
	f.signal(terminate)
	select {
	case <-exited:
		return e
	case <-time.After(grace):
	}
	f.signal(kill)
	f.end(0)
	<-exited
	return e
}

// status reads how the process ended. Wait has nothing to wait for: the
// process is over, and its streams are files.
func (e *ending) status(cmd *exec.Cmd) {
	_ = cmd.Wait() // what it would say is in ProcessState
	e.code = cmd.ProcessState.ExitCode()
	if e.code < 0 {
		e.signal = signalName(cmd.ProcessState)
	}
}

// streams are the pipes of a process. They are files of our own, because
// exec's would keep Wait from returning as long as any descendant holds them.
type streams struct {
	child   []io.Closer // ends that the process has, once it is started
	readers []*os.File
	writer  *os.File
	work    []func()
	wait    sync.WaitGroup
}

func (p *process) connect(cmd *exec.Cmd) (*streams, error) {
	s := &streams{}
	if p.stdin != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("make pipe: %w", err)
		}
		s.child, s.writer = append(s.child, r), w
		s.work = append(s.work, func() {
			// A program need not read its input.
			_, _ = io.Copy(w, bytes.NewReader(p.stdin))
			_ = w.Close()
		})
		cmd.Stdin = r
	}
	out, err := s.output(p.stdout)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = out, out
	if p.stderr != p.stdout {
		if cmd.Stderr, err = s.output(p.stderr); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *streams) output(to io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		s.abandon()
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	s.child, s.readers = append(s.child, w), append(s.readers, r)
	s.work = append(s.work, func() { _, _ = io.Copy(to, r) }) // ends with the pipe
	return w, nil
}

// begin leaves the process its ends and moves the data.
func (s *streams) begin() {
	for _, c := range s.child {
		_ = c.Close()
	}
	for _, work := range s.work {
		s.wait.Go(work)
	}
}

// finish waits for the rest of the output, but not for a writer that escaped.
func (s *streams) finish() {
	if s.writer != nil {
		_ = s.writer.Close()
	}
	late := time.AfterFunc(drain, s.closeReaders)
	s.wait.Wait()
	late.Stop()
	s.closeReaders()
}

func (s *streams) closeReaders() {
	for _, r := range s.readers {
		_ = r.Close()
	}
}

// abandon closes everything of a process that was not started.
func (s *streams) abandon() {
	for _, c := range s.child {
		_ = c.Close()
	}
	s.closeReaders()
	if s.writer != nil {
		_ = s.writer.Close()
	}
}

// note tells the model how a process ended; "" after a clean exit.
func (e *ending) note(timeout time.Duration) string {
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

func (e *ending) failed() bool { return e.aborted || e.timedOut || e.signal != "" || e.code != 0 }

// shell is the program that runs a command line.
func shell() (string, error) {
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is neither bash nor sh in PATH")
}
