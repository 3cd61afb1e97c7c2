package diff

import (
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// walk goes along a path and makes its steps.
type walk struct {
	h     *History
	now   conditions
	calls map[string]pair // call id: step and place in it
	ids   map[string]int  // entry id: step
	scratch
}

func newWalk(h *History, header *transcript.Entry) *walk {
	w := &walk{h: h, calls: map[string]pair{}, ids: map[string]int{}}
	w.now.state = new(replay.State)
	if header != nil {
		w.now.state.Apply(header)
	}
	return w
}

func (w *walk) entry(e *transcript.Entry, rec record) {
	h := w.h
	h.Entries++
	at := len(h.steps)
	if e.ID != "" {
		w.ids[e.ID] = at // of an entry that is no step: the step that follows
	}
	answer := e.Message != nil && e.Message.Role == transcript.Assistant
	if answer {
		rec.at = w.now.answered(e.Message)
	}
	switch {
	case answer:
		w.now.apply(withoutContent(e))
	case e.Message == nil || e.Message.Role == transcript.System:
		w.now.apply(e) // prompts and results change nothing that requests go out with
	}
	h.Turns = w.now.state.Turn()
	if rec.skip {
		return
	}
	s := rec.step
	if s.message() {
		h.Messages++
	}
	s.turn, s.number = h.Turns, h.Messages
	if e.Compaction != nil {
		rec.about = reference(e) // of version 1 it is known only in the tree
	}
	w.refer(&s, &rec)
	for i, id := range rec.callIDs {
		w.calls[id] = pair{at, i}
	}
	if answer {
		w.answer(e, &s, at)
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

func (w *walk) answer(e *transcript.Entry, s *step, at int) {
	if s.failed {
		return // its calls never were any
	}
	w.h.final = at
	for _, c := range e.Message.Calls() {
		arguments := c.Arguments
		if len(arguments) == 0 {
			arguments = noArguments
		}
		w.h.calls = append(w.h.calls, Call{Name: c.Name, Arguments: arguments, Line: s.spot.line, Turn: s.turn})
	}
}

// refer finds what a step is about.
func (w *walk) refer(s *step, rec *record) {
	if call, ok := w.calls[rec.answers]; ok && rec.answers != "" {
		s.target, s.nth = call.a, call.b
		made := w.h.steps[call.a].made[call.b]
		s.calls = w.scratch.sum(s.kind, made.sum, number(int64(made.nth)))
	} else if i, ok := w.ids[rec.about]; ok && rec.about != "" {
		s.target = i
	}
}

func (w *walk) finish() {
	w.h.end, w.h.ran, w.h.ended = w.now.answered(nil), w.now.ran, w.now.ended
	w.h.Made = len(w.h.calls)
	w.h.Usage = tokensOf(w.now.state.Usage())
}
