package cmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/mattn/go-isatty"

	"github.com/turnlog/turnlog/replay/foreign"
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

// open opens a file to read, or standard input, for as long as ctx lasts. What
// is not there is a mistake of the caller. The source can be read again where
// it has a ReaderAt.
func (s Streams) open(ctx context.Context, name string) (*input.Source, error) {
	if name == "-" {
		return &input.Source{Reader: s.Input(ctx), Closer: io.NopCloser(nil)}, nil
	}
	f, r, at, err := input.Open(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("%w", err)
	case err != nil:
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.Join(usagef("%s is a folder", name).hint("name a file of it"), f.Close())
	}
	return &input.Source{Reader: r, ReaderAt: at, Closer: f}, nil
}

// asUnknown makes a usage error of a file that cannot be what is wanted of it.
func asUnknown(err error, wanted string) error {
	var unknown *foreign.UnknownError
	if errors.As(err, &unknown) {
		return usagef("%s: not a transcript that can be %s: it looks like %s", unknown.Name, wanted, unknown.Seen)
	}
	return err
}
