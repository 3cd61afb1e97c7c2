package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// spot is where an entry stands in its file.
type spot struct {
	entry  uint32 // which one it is, from 0
	record int    // which of its line
	line   int
	offset int64 // of the line
	size   uint32
}

// store has the entries of a file: in memory, or in the file.
type store struct {
	at    io.ReaderAt        // nil if entries are kept
	kept  []transcript.Entry // by number
	sizes []uint32           // of the lines of entries that are not kept

	// A line of several records that was read last: there may be any number of
	// them.
	last   []transcript.Entry
	lastAt int // its number

	// Compactions of version 1, which name the entries that they keep by number:
	// the linker knows what they are called.
	compactions map[uint32]*transcript.Compaction
}

// add takes the next entry.
func (s *store) add(p *tree.Part, r *tree.Record) {
	if s.at == nil {
		s.kept = append(s.kept, *r.Entry)
		return
	}
	i := uint32(len(s.sizes))
	s.sizes = append(s.sizes, uint32(len(p.Line.Raw)))
	if r.Name != "" && r.Entry.Compaction != nil {
		if s.compactions == nil {
			s.compactions = make(map[uint32]*transcript.Compaction)
		}
		s.compactions[i] = r.Entry.Compaction
	}
}

func (s *store) spot(links *tree.Linker, i uint32) spot {
	at := spot{entry: i, line: links.Line(i)}
	if s.at != nil {
		at.size = s.sizes[i]
		at.offset, at.record = links.Place(i)
	}
	return at
}

// entry gives the entry at a spot, nil if there is none any more.
func (s *store) entry(at spot) (*transcript.Entry, error) {
	if s.at == nil {
		return &s.kept[at.entry], nil
	}
	e, err := s.record(at)
	if e == nil || err != nil {
		return nil, err
	}
	e.Line = at.line
	if c, ok := s.compactions[at.entry]; ok {
		e.Compaction = c
	}
	return e, nil
}

// record reads one record of a line, nil if it has no such record. Damaged
// lines go through the reader of lines.
func (s *store) record(at spot) (*transcript.Entry, error) {
	if s.lastAt != at.line {
		line := make([]byte, at.size)
		if _, err := s.at.ReadAt(line, at.offset); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if e, err := transcript.ParseEntry(bytes.TrimRight(line, "\r\n")); err == nil && at.record == 0 {
			return &e, nil
		}
		s.last, s.lastAt = nil, at.line
		for l, err := range transcript.Lines(bytes.NewReader(line), transcript.Options{MaxLine: len(line) + 1}) {
			if err == nil {
				s.last = append(s.last, l.Records...)
			}
		}
	}
	if at.record >= len(s.last) {
		return nil, nil
	}
	e := s.last[at.record]
	return &e, nil
}

// load reads the entry of a step again, and checks that it is still the same.
func (h *History) load(s *step) (*transcript.Entry, error) {
	e, err := h.entry(s)
	if err != nil {
		return nil, err
	}
	now := step{}
	if h.digest(&now, e); now.whole != s.whole {
		return nil, h.changed(s)
	}
	return e, nil
}

func (h *History) entry(s *step) (*transcript.Entry, error) {
	switch e, err := h.store.entry(s.spot); {
	case err != nil:
		return nil, fmt.Errorf("read %s again: %w", h.Name, err)
	case e == nil:
		return nil, h.changed(s)
	default:
		return e, nil
	}
}

func (h *History) changed(s *step) error {
	return fmt.Errorf("read %s again: line %d has changed meanwhile", h.Name, s.spot.line)
}
