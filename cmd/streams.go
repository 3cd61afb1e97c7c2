package cmd

import (
	"context"
	"io"
	"os"

	"github.com/mattn/go-isatty"

	"github.com/turnlog/turnlog/replay/input"
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

// Input is In for as long as ctx lasts.
func (s Streams) Input(ctx context.Context) io.Reader { return input.Until(ctx, s.In) }
