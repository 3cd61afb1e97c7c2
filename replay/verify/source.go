package verify

import (
	"bytes"
	"fmt"

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

// entry reads an entry again.
func (e *engine) entry(i uint32) (*transcript.Entry, error) {
	en, err := e.again.Entry(i)
	if en == nil && err == nil {
		return nil, fmt.Errorf("read %s again: line %d has changed while it was checked", e.src.Name, e.again.Line().No)
	}
	return en, err
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
