package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Source is an input, and what was read of it for those who have to look back.
type Source struct {
	io.Reader
	io.ReaderAt
	io.Closer
}

// Open opens a file for as long as ctx lasts. stdin is standard input.
func (f File) Open(ctx context.Context, stdin io.Reader) (*Source, error) {
	var close io.Closer = io.NopCloser(nil)
	r, at := again(ctx, stdin)
	if !f.Stdin {
		file, reader, readerAt, err := Open(ctx, f.Name)
		if err != nil {
			return nil, err
		}
		close, r, at = file, reader, readerAt
	}
	if at != nil {
		return &Source{r, at, close}, nil
	}
	s := &spool{r: r, of: close}
	return &Source{s, s, s}, nil
}

// again is in for as long as ctx lasts. at reads the same bytes again; it is
// nil unless in is a file.
func again(ctx context.Context, in io.Reader) (r io.Reader, at io.ReaderAt) {
	f, ok := in.(*os.File)
	if !ok {
		return Until(ctx, in), nil
	}
	info, err := f.Stat()
	start, seek := f.Seek(0, io.SeekCurrent)
	if err != nil || seek != nil || !info.Mode().IsRegular() {
		return Until(ctx, in), nil
	}
	section := io.NewSectionReader(f, start, math.MaxInt64-start)
	return section, section
}

// spoolSize is how much of an input is kept in memory before a temporary file
// takes it: transcripts are 1 to 3 MB as a rule.
const spoolSize = 8 << 20

// spool is an input that can be read only once, and what was read of it so
// far. Read and ReadAt are for one goroutine.
type spool struct {
	r    io.Reader
	of   io.Closer
	head []byte   // all of it while it is small
	file *os.File // all of it else
}

func (s *spool) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if kept := s.keep(p[:n]); kept != nil {
		return 0, fmt.Errorf("keep what was read from standard input: %w", kept)
	}
	return n, err
}

func (s *spool) keep(b []byte) (err error) {
	if s.file == nil && len(s.head)+len(b) > spoolSize {
		if s.file, err = os.CreateTemp("", "turnlog-*.jsonl"); err != nil {
			return err
		}
		b = append(s.head, b...)
		s.head = nil
	}
	if s.file == nil {
		s.head = append(s.head, b...)
		return nil
	}
	_, err = s.file.Write(b)
	return err
}

// ReadAt reads again what was read.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	if s.file == nil {
		return bytes.NewReader(s.head).ReadAt(p, off)
	}
	return s.file.ReadAt(p, off)
}

// Close removes the temporary file.
func (s *spool) Close() error {
	err := s.of.Close()
	if s.file != nil {
		err = errors.Join(err, s.file.Close(), os.Remove(s.file.Name()))
	}
	return err
}
