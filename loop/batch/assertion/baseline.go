package assertion

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

// baseline reads the calls of an earlier transcript. One that is damaged is
// refused: a call may be in what cannot be read.
func baseline(ctx context.Context, path string) ([]calls.Call, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	defer f.Close() // read only
	file, err := foreign.Open(f, path, "", transcript.Options{})
	var unknown *foreign.UnknownError
	switch {
	case errors.As(err, &unknown):
		return nil, fmt.Errorf("baseline %s: not a session transcript: it looks like %s", path, unknown.Seen)
	case err != nil:
		return nil, fmt.Errorf("read baseline: %w", err)
	case !file.Format.Has(foreign.Seals):
		return nil, fmt.Errorf("baseline %s: not a session transcript: it looks like %s", path, file.Format.Title)
	}
	h, err := diff.Read(ctx, file, f, diff.Options{Ignore: diff.Volatile()})
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	if len(h.Damage) > 0 {
		return nil, fmt.Errorf("baseline %s:%d: %s", path, h.Damage[0].Line, h.Damage[0].Message)
	}
	return h.Calls(), nil
}
