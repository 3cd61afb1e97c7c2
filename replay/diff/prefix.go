package diff

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Appended reports whether b begins with a, byte for byte: the proof that a
// history was only appended to. If it does not, line is the first one of a
// that b does not have as it is.
func Appended(ctx context.Context, a, b io.Reader) (ok bool, line int, err error) {
	const block = 256 << 10
	x, y := bufio.NewReaderSize(a, block), bufio.NewReaderSize(b, block)
	for line = 1; ; {
		if err := context.Cause(ctx); err != nil {
			return false, 0, err
		}
		want, err := x.Peek(block)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, 0, fmt.Errorf("read the first file: %w", err)
		}
		if len(want) == 0 {
			return true, 0, nil
		}
		got, err := y.Peek(len(want))
		if err != nil && !errors.Is(err, io.EOF) {
			return false, 0, fmt.Errorf("read the second file: %w", err)
		}
		same := 0
		for same < len(got) && want[same] == got[same] {
			same++
		}
		line += bytes.Count(want[:same], []byte("\n"))
		if same < len(want) {
			return false, line, nil
		}
		_, _ = x.Discard(same) // they are in the buffer
		_, _ = y.Discard(same)
	}
}
