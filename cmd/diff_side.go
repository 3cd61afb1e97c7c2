package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/input"
	"github.com/turnlog/turnlog/replay/text"
	"github.com/turnlog/turnlog/replay/transcript"
)

// side is one of two files. It stays open until the difference is written:
// what differs is read again.
type side struct {
	file    *os.File // nil for standard input
	history *diff.History
}

func (s *side) close() {
	if s != nil && s.file != nil {
		s.file.Close() // read only: nothing to lose
	}
}

// open opens a file to read, see [input.Open]; what is not there is a mistake of
// the caller.
func open(ctx context.Context, name string) (*os.File, io.Reader, io.ReaderAt, error) {
	f, r, at, err := input.Open(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil, usagef("%w", err)
	case err != nil:
		return nil, nil, nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, nil, nil, errors.Join(usagef("%s is a folder", name).hint("name a file of it"), f.Close())
	}
	return f, r, at, nil
}

// readSide reads a file or standard input as a history. Regular files are not
// kept in memory.
func readSide(ctx context.Context, s Streams, name string, o diff.Options) (*side, error) {
	r, at := s.Input(ctx), io.ReaderAt(nil)
	out := &side{}
	if name != "-" {
		var err error
		if out.file, r, at, err = open(ctx, name); err != nil {
			return nil, err
		}
	}
	f, err := foreign.Open(r, name, "", transcript.Options{Workers: runtime.GOMAXPROCS(0) / 2})
	var unknown *foreign.UnknownError
	switch {
	case errors.As(err, &unknown):
		return out, usagef("%s: not a transcript that can be compared: it looks like %s", name, unknown.Seen)
	case err != nil:
		return out, err
	}
	out.history, err = diff.Read(ctx, f, at, o)
	return out, err
}

// diffAppended checks that the second file begins with the first.
func diffAppended(ctx context.Context, o *diffOptions) error {
	var readers [2]io.Reader
	for i, name := range o.Files {
		if name == "-" {
			readers[i] = o.Input(ctx)
			continue
		}
		f, r, _, err := open(ctx, name)
		if err != nil {
			return err
		}
		defer f.Close() // read only
		readers[i] = r
	}
	ok, line, err := diff.Appended(ctx, readers[0], readers[1])
	if err != nil {
		return err
	}
	if err := showAppended(o, ok, line); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if !ok {
		return outcome(exitFound)
	}
	return nil
}

func showAppended(o *diffOptions, ok bool, line int) (err error) {
	a, b := text.Printable(o.Files[0]), text.Printable(o.Files[1])
	switch {
	case o.Quiet:
	case o.Format == "json":
		err = json.NewEncoder(o.Out).Encode(struct {
			Version    int  `json:"version"`
			AppendOnly bool `json:"appendOnly"`
			Line       int  `json:"line,omitempty"` // of A that B does not have as it is
		}{diff.JSONVersion, ok, line})
	case ok:
		_, err = fmt.Fprintf(o.Out, "%s begins with %s, byte for byte\n", b, a)
	default:
		_, err = fmt.Fprintf(o.Out, "%s does not begin with %s: they part in line %d\n", b, a, line)
	}
	return err
}
