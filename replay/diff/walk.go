package diff

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// walk goes along a path and makes its steps, which hold on to no line.
type walk struct {
	h     *History
	now   conditions
	calls map[string]callAt // by id
	ids   map[string]idAt
}

// callAt is a call of an answer.
type callAt struct{ step, nth int }

// idAt is where an id stands: the entry of the path that has it first, and the
// step of the one that has it last, or of an entry that is no step the one that
// follows.
type idAt struct{ first, step int }

func newWalk(h *History, header *transcript.Entry) *walk {
	w := &walk{h: h, calls: map[string]callAt{}, ids: map[string]idAt{}}
	w.now.facts = replay.NewFacts(func(id string) (int, bool) {
		at, ok := w.ids[id]
		return at.first, ok
	})
	if header != nil {
		w.now.facts.Apply(header)
	}
	return w
}

// entry takes the next entry of the path; s says where it stands.
func (w *walk) entry(e *transcript.Entry, s step) {
	h := w.h
	w.name(e, &s)
	h.Entries++
	var asked *situation
	if e.Message != nil && e.Message.Role == transcript.Assistant {
		asked = w.now.answered(e.Message)
	}
	w.now.apply(e)
	h.Turns = w.now.facts.Turn()
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
		w.answer(e.Message, &s)
	}
	h.steps = append(h.steps, s)
}

// name notes where the id of an entry stands, or the name of one that has none.
func (w *walk) name(e *transcript.Entry, s *step) {
	id := strings.Clone(e.ID)
	switch {
	case id == "" && w.h.At != nil:
		return
	case id == "":
		_, n := w.h.links.Place(s.entry)
		id = tree.NameOf(&tree.Record{Entry: e, N: n})
	}
	was, ok := w.ids[id]
	if !ok {
		was.first = w.h.Entries
	}
	was.step = len(w.h.steps)
	w.ids[id] = was
}

// answer notes the calls of an answer.
func (w *walk) answer(m *transcript.Message, s *step) {
	at := len(w.h.steps)
	for i, c := range m.Calls() {
		w.calls[strings.Clone(c.ID)] = callAt{at, i}
		if s.failed {
			continue // its calls never were any
		}
		made := calls.Call{Name: strings.Clone(c.Name), Arguments: bytes.Clone(c.Arguments), Line: s.line, Turn: s.turn}
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
		if at, ok := w.ids[reference(e)]; ok {
			s.target = at.step
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
