package diff

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// store has the entries of a file by their numbers, in memory or in the file.
type store struct {
	again *foreign.Rereader // nil if entries are kept
	kept  []transcript.Entry

	// Compactions of version 1 name the entries that they keep by number. What
	// these are called is known when the file is read in order.
	compactions map[uint32]*transcript.Compaction
}

// add takes the next entry.
func (s *store) add(i uint32, r *tree.Record) {
	switch {
	case s.again == nil:
		s.kept = append(s.kept, *r.Entry)
	case r.Name != "" && r.Entry.Compaction != nil:
		if s.compactions == nil {
			s.compactions = make(map[uint32]*transcript.Compaction)
		}
		s.compactions[i] = r.Entry.Compaction
	}
}

// entry gives the entry of a step as it is now.
func (h *History) entry(s *step) (*transcript.Entry, error) {
	if h.store.again == nil {
		return &h.store.kept[s.entry], nil
	}
	e, err := h.store.again.Entry(s.entry)
	if err == nil && e == nil {
		err = h.changed(s)
	}
	if c, ok := h.store.compactions[s.entry]; ok && err == nil {
		e.Compaction = c
	}
	return e, err
}

// load gives the entry of a step that is the one that was digested.
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

func (h *History) changed(s *step) error {
	return fmt.Errorf("read %s again: line %d has changed meanwhile", h.Name, s.line)
}
