package transcript

import (
	"bytes"
	"fmt"
	"io"
)

// Writer appends entries to a transcript. It knows no files: opening, locking
// and syncing belong to whoever gives it w.
type Writer struct {
	w   io.Writer
	buf []byte
}

// NewWriter returns a Writer that appends to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Append writes e and its line end with one call of Write, so that a crash
// tears one line at most and two writers never mix within a line.
func (w *Writer) Append(e *Entry) error {
	w.buf = AppendEntry(w.buf[:0], e)
	if bytes.IndexByte(w.buf, '\n') >= 0 {
		w.buf = AppendRaw(nil, w.buf) // Raw was not read from a line
	}
	w.buf = append(w.buf, '\n')
	n, err := w.w.Write(w.buf)
	if err == nil && n < len(w.buf) {
		err = io.ErrShortWrite
	}
	if cap(w.buf) > blockSize {
		w.buf = nil // one long line must not pin its size
	}
	if err != nil {
		return fmt.Errorf("append entry %s: %w", e.ID, err)
	}
	return nil
}
