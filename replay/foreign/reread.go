package foreign

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// Rereader reads lines of a file again, and the entries in them, by the places
// that a linker knows. Neighbours are often wanted one after the other, so it
// reads blocks.
type Rereader struct {
	File  *File
	At    io.ReaderAt // the bytes of the file
	Links *tree.Linker

	block []byte
	from  int64 // offset of block

	line    transcript.Line // that was read last
	records []tree.Record
}

const rereadBlock = 128 << 10

// Bytes reads the physical line that starts at an offset, at most limit bytes
// of it. It is valid until the next call.
func (r *Rereader) Bytes(offset int64, limit int) ([]byte, error) {
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

func (r *Rereader) read(from int64, size int) error {
	if cap(r.block) < size {
		r.block = make([]byte, size)
	}
	n, err := r.At.ReadAt(r.block[:size], from)
	r.block, r.from = r.block[:n], from
	if err != nil && err != io.EOF {
		return fmt.Errorf("read %s again at byte %d: %w", r.File.Name, from, err)
	}
	return nil
}

// Entry reads an entry again, nil if its line does not have it any more. It has
// memory of its own.
func (r *Rereader) Entry(i uint32) (*transcript.Entry, error) {
	offset, n := r.Links.Place(i)
	// A damaged line may have any number of records, each of which is wanted.
	if len(r.records) < 2 || r.line.Offset != offset {
		limit := cmp.Or(r.File.Options.MaxLine, transcript.DefaultMaxLine)
		raw, err := r.Bytes(offset, limit+1)
		if err != nil {
			return nil, err
		}
		r.line = transcript.ParseLine(raw, limit)
		r.line.No, r.line.Offset = r.Links.Line(i), offset
		for k := range r.line.Records {
			r.line.Records[k].Line = r.line.No
		}
		r.records = r.File.Again(&r.line)
	}
	if n >= len(r.records) {
		return nil, nil
	}
	return r.records[n].Entry, nil
}

// Line is the line of the entry that was read last.
func (r *Rereader) Line() *transcript.Line { return &r.line }

// Forget lets go of what was read: it may be long until more is.
func (r *Rereader) Forget() { r.block, r.line, r.records = nil, transcript.Line{}, nil }
