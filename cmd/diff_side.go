package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	source  *input.Source
	history *diff.History
}

func (s *side) close() {
	if s.source != nil {
		s.source.Close() // read only: nothing to lose
	}
}

// read reads a file or standard input as a history. Regular files are not kept
// in memory.
func (s *side) read(ctx context.Context, from Streams, name string, o diff.Options) (err error) {
	if s.source, err = from.open(ctx, name); err != nil {
		return err
	}
	f, err := foreign.Open(s.source, name, "", transcript.Options{Workers: runtime.GOMAXPROCS(0) / 2})
	if err != nil {
		return asUnknown(err, "compared")
	}
	s.history, err = diff.Read(ctx, f, s.source.ReaderAt, o)
	return err
}

// diffAppended checks that the second file begins with the first.
func diffAppended(ctx context.Context, o *diffOptions) error {
	var readers [2]io.Reader
	for i, name := range o.Files {
		f, err := o.open(ctx, name)
		if err != nil {
			return err
		}
		defer f.Close() // read only
		readers[i] = f
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
