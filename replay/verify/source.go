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

// rewound gives back what was read ahead.
type rewound struct {
	head []byte
	rest io.Reader
}

func (r *rewound) Read(b []byte) (int, error) {
	if len(r.head) == 0 {
		return r.rest.Read(b)
	}
	n := copy(b, r.head)
	r.head = r.head[n:]
	return n, nil
}

// grew reports whether the file is longer than what was read of it.
func (s Source) grew(read int64) bool {
	n, _ := s.At.ReadAt(make([]byte, 1), read)
	return n > 0
}

// readLine reads the physical line that starts at offset again, at most limit
// bytes of it.
func (s Source) readLine(offset int64, limit int) ([]byte, error) {
	var line []byte
	for size := 8 << 10; len(line) < limit; size *= 4 {
		block := make([]byte, min(size, limit-len(line)))
		n, err := s.At.ReadAt(block, offset+int64(len(line)))
		block = block[:n]
		if end := bytes.IndexByte(block, '\n'); end >= 0 {
			return append(line, block[:end+1]...), nil
		}
		line = append(line, block...)
		if err == io.EOF {
			return line, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read %s again at byte %d: %w", s.Name, offset, err)
		}
	}
	return line, nil
}

// entry reads an entry again.
func (e *engine) entry(i uint32) (*transcript.Entry, error) {
	r := e.table.row(i)
	limit := e.options.MaxLine
	if limit == 0 {
		limit = transcript.DefaultMaxLine
	}
	raw, err := e.src.readLine(r.at(), limit)
	if err != nil {
		return nil, err
	}
	l := transcript.Line{No: int(r.line), Offset: r.at(), Raw: raw}
	if en, err := transcript.ParseEntry(trimLineEnd(raw)); err == nil {
		en.Line = l.No
		l.Records = []transcript.Entry{en}
	} else if l, err = e.damagedLine(raw); err != nil {
		return nil, err
	}
	var found *transcript.Entry
	n := uint32(0)
	e.format.Records(&l, func(_ string, en *transcript.Entry) {
		if n == r.record {
			found = en
		}
		n++
	})
	if found == nil {
		return nil, fmt.Errorf("read %s again: line %d has changed while it was checked", e.src.Name, r.line)
	}
	found.Line = int(r.line)
	return found, nil
}

// damagedLine reads a line that is not one record.
func (e *engine) damagedLine(raw []byte) (transcript.Line, error) {
	for l, err := range transcript.Lines(bytes.NewReader(raw), transcript.Options{MaxLine: e.options.MaxLine}) {
		return l, err
	}
	return transcript.Line{}, nil
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
