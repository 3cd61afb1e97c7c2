package assertion

import (
	"context"
	"fmt"
	"io"
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
	head := make([]byte, foreign.HeadSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	format, seen, err := foreign.Detect(head[:n], "")
	if err != nil || !format.Seals {
		return nil, fmt.Errorf("baseline %s: not a session transcript: it looks like %s", path, seen)
	}
	h, err := diff.Read(ctx, diff.Source{Name: path, Lines: transcript.Lines(f, transcript.Options{}), At: f}, diff.Options{Ignore: diff.Volatile()})
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	if len(h.Damage) > 0 {
		return nil, fmt.Errorf("baseline %s:%d: %s", path, h.Damage[0].Line, h.Damage[0].Message)
	}
	return h.Calls(), nil
}
