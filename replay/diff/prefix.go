package diff

import (
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
	x, y := make([]byte, 256<<10), make([]byte, 256<<10)
	line = 1
	for {
		if err := context.Cause(ctx); err != nil {
			return false, 0, err
		}
		n, err := fill(a, x)
		if err != nil {
			return false, 0, fmt.Errorf("read the first file: %w", err)
		}
		if n == 0 {
			return true, 0, nil
		}
		m, err := fill(b, y[:n])
		if err != nil {
			return false, 0, fmt.Errorf("read the second file: %w", err)
		}
		if !bytes.Equal(x[:n], y[:m]) {
			return false, line + bytes.Count(x[:same(x[:n], y[:m])], []byte("\n")), nil
		}
		line += bytes.Count(x[:n], []byte("\n"))
	}
}

// fill reads until b is full or r ends.
func fill(r io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// same counts the bytes that two slices begin with.
func same(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
