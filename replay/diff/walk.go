package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// walk goes along a path and makes its steps.
type walk struct {
	h     *History
	now   conditions
	calls map[string]callAt // by id
	ids   map[string]int    // entry id: step
}

// callAt is a call of an answer.
type callAt struct{ step, nth int }

func newWalk(h *History, header *transcript.Entry) *walk {
	w := &walk{h: h, calls: map[string]callAt{}, ids: map[string]int{}}
	w.now.state = new(replay.State)
	if header != nil {
		w.now.state.Apply(header)
	}
	return w
}

// entry takes the next entry of the path; s says where it stands.
func (w *walk) entry(e *transcript.Entry, s step) {
	h, m := w.h, e.Message
	h.Entries++
	at := len(h.steps)
	if id := h.entries[s.entry].ID; id != "" {
		w.ids[id] = at // of an entry that is no step: the step that follows
	}
	var asked *situation
	switch {
	case m != nil && m.Role == transcript.Assistant:
		asked = w.now.answered(m)
		w.now.apply(withoutContent(e))
	case m == nil || m.Role == transcript.System:
		w.now.apply(h.named(e, &s)) // prompts and results change nothing that requests go out with
	}
	h.Turns = w.now.state.Turn()
	if h.isSetting(e) {
		return
	}
	h.digest(&s, e)
	if s.message() {
		h.Messages++
	}
	s.at, s.turn, s.number = asked, h.Turns, h.Messages
	w.refer(&s, e)
	if asked != nil {
		w.answer(m, &s, at)
	}
	h.steps = append(h.steps, s)
}

// withoutContent is an answer without what it says. Results are not applied,
// so its calls would stay open, and the fold copies open calls at each answer.
func withoutContent(e *transcript.Entry) *transcript.Entry {
	m := *e.Message
	m.Content = nil
	return &transcript.Entry{Type: e.Type, ID: e.ID, ParentID: e.ParentID, Line: e.Line, Message: &m}
}

// answer notes the calls of an answer.
func (w *walk) answer(m *transcript.Message, s *step, at int) {
	for i, c := range m.Calls() {
		w.calls[c.ID] = callAt{at, i}
		if s.failed {
			continue // its calls never were any
		}
		made := calls.Call{Name: c.Name, Arguments: c.Arguments, Line: s.spot.line, Turn: s.turn}
		if len(made.Arguments) == 0 {
			made.Arguments = json.RawMessage("{}") // absent is as good as empty
		}
		w.h.calls = append(w.h.calls, made)
	}
	if !s.failed {
		w.h.final = at
	}
}

// refer finds what a step is about.
func (w *walk) refer(s *step, e *transcript.Entry) {
	if e.Message == nil {
		if i, ok := w.ids[reference(e)]; ok {
			s.target = i
		}
		return
	}
	if call, ok := w.calls[e.Message.ToolCallID]; ok && e.Message.ToolCallID != "" && e.Message.Role == transcript.ToolResult {
		s.target, s.nth = call.step, call.nth
		made := w.h.steps[call.step].made[call.nth]
		s.calls = w.h.Sum(s.kind, made.sum, jsondiff.Number(int64(made.nth)))
	}
}

// reference is the id of the entry that another one is about.
func reference(e *transcript.Entry) string {
	switch {
	case e.Compaction != nil:
		return e.Compaction.FirstKeptEntryID
	case e.Branch != nil:
		return e.Branch.FromID
	case e.Edit != nil:
		return e.Edit.TargetID
	case e.Label != nil:
		return e.Label.TargetID
	}
	return ""
}

func (w *walk) finish() {
	h := w.h
	h.end, h.ran, h.ended, h.Made = w.now.answered(nil), w.now.ran, w.now.ended, len(h.calls)
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

func (h *History) changed(s *step) error {
	return fmt.Errorf("read %s again: line %d has changed meanwhile", h.Name, s.spot.line)
}

// entry reads an entry from where it stands, unless it was kept.
func (h *History) entry(s *step) (*transcript.Entry, error) {
	kept := &h.entries[s.entry]
	if h.at == nil || kept.Type != "" {
		return s.spot.asWritten(kept), nil
	}
	e, err := h.record(s)
	if err != nil {
		return nil, err
	}
	if e == nil || e.ID != "" && e.ID != kept.ID {
		return nil, h.changed(s)
	}
	e.Line = kept.Line
	return e, nil
}

// record reads one record of a line, nil if it has no such record. Damaged
// lines go through the reader of lines, and are kept until the next one: there
// may be any number of records.
func (h *History) record(s *step) (*transcript.Entry, error) {
	if h.lastAt != s.spot.line {
		line := make([]byte, s.spot.size)
		if _, err := h.at.ReadAt(line, s.spot.offset); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s again: %w", h.Name, err)
		}
		if e, err := transcript.ParseEntry(bytes.TrimRight(line, "\r\n")); err == nil && s.spot.record == 0 {
			return &e, nil
		}
		h.last, h.lastAt = nil, s.spot.line
		for l, err := range transcript.Lines(bytes.NewReader(line), transcript.Options{MaxLine: len(line) + 1}) {
			if err == nil {
				h.last = append(h.last, l.Records...)
			}
		}
	}
	if s.spot.record >= len(h.last) {
		return nil, nil
	}
	e := h.last[s.spot.record]
	return &e, nil
}

// asWritten is an entry without the chain that the tree gave it.
func (at *spot) asWritten(e *transcript.Entry) *transcript.Entry {
	if !at.unnamed {
		return e
	}
	c := *e
	c.ID, c.ParentID = "", ""
	return &c
}

// named is an entry with the chain that the tree gave it.
func (h *History) named(e *transcript.Entry, s *step) *transcript.Entry {
	if !s.spot.unnamed {
		return e
	}
	c := *e
	c.ID, c.ParentID = h.entries[s.entry].ID, h.entries[s.entry].ParentID
	return &c
}
