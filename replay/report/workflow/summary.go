package workflow

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// OpenSummary opens the file that GitHub shows as a step's summary, nil if
// there is no name. Other commands of the step may have written to it, and its
// limit is for all: room is how many bytes are left.
func OpenSummary(name string) (w io.WriteCloser, room int, err error) {
	if name == "" {
		return nil, 0, nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, 0, fmt.Errorf("open step summary: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open step summary: %w", err), f.Close())
	}
	return f, max(1, MaxSummaryBytes-int(info.Size())), nil
}
