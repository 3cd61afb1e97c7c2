package cmd

import (
	"context"
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Streams is what a command may talk to. Out carries the data that was asked
// for and nothing else; progress, notes and errors go to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	OutTTY   bool
	ErrTTY   bool
	ErrWidth func() int          // columns of Err now, 0 if unknown; nil is unknown
	Getenv   func(string) string // nil knows no variable
}

// System is the process's own streams.
func System() Streams {
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTTY:   isatty.IsTerminal(os.Stdout.Fd()),
		ErrTTY:   isatty.IsTerminal(os.Stderr.Fd()),
		ErrWidth: func() int { return width(os.Stderr) },
		Getenv:   os.Getenv,
	}
}

// Env returns an environment variable, "" if there is none.
func (s Streams) Env(name string) string {
	if s.Getenv == nil {
		return ""
	}
	return s.Getenv(name)
}

// Color reports whether Out wants colours: a terminal that does not say
// otherwise (https://no-color.org).
func (s Streams) Color() bool {
	return s.OutTTY && s.Env("NO_COLOR") == "" && s.Env("TERM") != "dumb"
}

// Input is In for as long as ctx lasts. A read from a terminal or a pipe
// cannot be interrupted, and a command that waits for one would not notice a
// signal.
func (s Streams) Input(ctx context.Context) io.Reader { return &interruptible{ctx: ctx, r: s.In} }

// openInput opens a file to read for as long as ctx lasts. Opening a pipe waits
// for its writer, and reading it for what that writes; a regular file cannot
// keep anybody waiting. at reads the same bytes again, nil where that is not
// possible.
func openInput(ctx context.Context, name string) (f *os.File, r io.Reader, at io.ReaderAt, err error) {
	if info, err := os.Stat(name); err != nil || info.Mode().IsRegular() || info.IsDir() {
		f, err := os.Open(name)
		return f, f, f, err
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, nil, nil, o.err
		}
		if _, err := o.f.Seek(0, io.SeekCurrent); err == nil {
			at = o.f // a device, not a pipe
		}
		return o.f, &interruptible{ctx: ctx, r: o.f}, at, nil
	case <-ctx.Done():
		return nil, nil, nil, context.Cause(ctx)
	}
}

type interruptible struct {
	ctx context.Context // of the one command that reads
	r   io.Reader
	buf []byte
}

func (i *interruptible) Read(p []byte) (int, error) {
	type read struct {
		n   int
		err error
	}
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	if len(i.buf) < len(p) {
		i.buf = make([]byte, len(p))
	}
	// The read goes into a buffer of ours: when ctx ends first it may still
	// complete, and p belongs to the caller again by then.
	done, buf := make(chan read, 1), i.buf[:len(p)]
	go func() {
		n, err := i.r.Read(buf)
		done <- read{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, buf[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, context.Cause(i.ctx)
	}
}
