package verify

import (
	"bytes"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/transcript"
)

// memorySource is a source that is all there.
func memorySource(name string, b []byte) Source {
	return Source{Name: name, Reader: bytes.NewReader(b), At: bytes.NewReader(b)}
}

// grew reports whether the file is longer than what was read of it.
func (s Source) grew(read int64) bool {
	n, _ := s.At.ReadAt(make([]byte, 1), read)
	return n > 0
}

// reread reads lines of a file again. Neighbours are often wanted one after the
// other, so it reads blocks.
type reread struct {
	src   Source
	block []byte
	from  int64 // offset of block
}

const rereadBlock = 128 << 10

// line reads the physical line that starts at an offset, at most limit bytes of
// it. It is valid until the next call.
func (r *reread) line(offset int64, limit int) ([]byte, error) {
	if offset < r.from || offset >= r.from+int64(len(r.block)) {
		from := offset
		if offset < r.from {
			from = max(0, offset-rereadBlock/2) // lines before this one may be next
		}
		if err := r.read(from, rereadBlock); err != nil {
			return nil, err
		}
	}
	for {
		have := r.block[min(int64(len(r.block)), offset-r.from):]
		if end := bytes.IndexByte(have, '\n'); end >= 0 {
			return have[:min(end+1, limit)], nil
		}
		if len(have) >= limit {
			return have[:limit], nil
		}
		before := len(have)
		if err := r.read(offset, min(limit, max(rereadBlock, 4*len(have)))); err != nil {
			return nil, err
		}
		if len(r.block) <= before {
			return r.block, nil // the end of the file
		}
	}
}

func (r *reread) read(from int64, size int) error {
	if cap(r.block) < size {
		r.block = make([]byte, size)
	}
	n, err := r.src.At.ReadAt(r.block[:size], from)
	r.block, r.from = r.block[:n], from
	if err != nil && err != io.EOF {
		return fmt.Errorf("read %s again at byte %d: %w", r.src.Name, from, err)
	}
	return nil
}

// entry reads an entry again, and sets the line of the pass to its line.
func (e *engine) entry(i uint32) (*transcript.Entry, error) {
	limit := e.options.MaxLine
	if limit == 0 {
		limit = transcript.DefaultMaxLine
	}
	offset, n := e.links.Place(i)
	raw, err := e.again.line(offset, limit+1)
	if err != nil {
		return nil, err
	}
	l := transcript.ParseLine(raw, limit)
	l.No, l.Offset = e.links.Line(i), offset
	for k := range l.Records {
		l.Records[k].Line = l.No
	}
	records := e.file.source.Again(&l)
	if n >= len(records) {
		return nil, fmt.Errorf("read %s again: line %d has changed while it was checked", e.src.Name, l.No)
	}
	en := records[n].Entry
	en.Line, e.reread = l.No, l
	return en, nil
}

// rereadError ends a run from within: a rule that looks at an earlier entry
// cannot go on if the entry cannot be read again.
type rereadError struct{ error }

// messageAt reads the message of an entry again, nil if it has none.
func (e *engine) messageAt(i uint32) *transcript.Message {
	en, err := e.entry(i)
	if err != nil {
		panic(rereadError{err})
	}
	return en.Message
}
