package verify

import (
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Answer is a tool result of a path and the call that it belongs to.
type Answer struct {
	Place
	Message *transcript.Message
	Kind    AnswerKind

	// Call is the call that is answered. It is nil for orphans, and where a
	// second result comes so late that only the line of the call is known.
	Call *Call

	First  int // Again: line of the first result, 0 if it is not known
	CallAt int // line of the call, 0 for an orphan
}

// AnswerKind says how a result meets its call.
type AnswerKind uint8

const (
	InTime AnswerKind = iota + 1 // in the exchange of its call
	Late                         // after the next user or assistant message
	Again                        // the call has a result already
	Orphan                       // no such call on the path
)

// Ran reports whether the result says that the tool did its work. A result
// that does not say whether it is an error says nothing.
func (a *Answer) Ran() bool { return a.Message.HasIsError && !a.Message.IsError }

// Kinds of keys in the table of occurrences.
const (
	useCall uint64 = iota + 1
	useFailedCall
	useCopy
	useRule // first of the kinds that rules use, one each
)

// useKey makes a key of a kind, for the sequence that is being followed. A
// multiplication by an odd number keeps keys of one kind apart and scatters the
// kinds.
func (e *engine) useKey(kind, id uint64) uint64 {
	return max(1, (id^kind^e.path.chain)*0x9E3779B97F4A7C15+kind)
}

func (e *engine) callKey(kind uint64, id string) uint64 {
	return e.useKey(kind, e.links.Fingerprint(id))
}

// assistant folds an assistant message.
func (e *engine) assistant(m *transcript.Message) {
	p := e.path
	t := &Turn{
		Place: e.pass.place(), StopReason: m.StopReason, Provider: m.Provider, Model: m.Model,
		Failed: m.Failed(), content: hashContent(e.links.Seed(), m), time: m.Timestamp,
	}
	if m.ResponseID != "" {
		t.response = e.links.Fingerprint(m.ResponseID)
	}
	if len(m.Calls()) == 0 && (t.response != 0 || !t.Failed) {
		t.copyKey = e.useKey(useCopy, mix(mix(t.content, t.response), uint64(t.time)))
	}
	e.compareTurn(t, m)
	t.own()
	e.pass.turn = t
	e.message(m)
	e.pass.turn = nil
	if !t.Continues {
		p.close()
	}
	if t.RepeatOf != 0 {
		p.drop(t.content)
	}
	if t.copyKey != 0 {
		e.uses.add(t.copyKey, t.index)
	}
	p.turn, p.open = t, true
	for i := range m.Content {
		if c := m.Content[i].Call; c != nil && m.Content[i].Type == transcript.BlockToolCall {
			e.call(t, c)
		}
	}
}

// compareTurn finds out whether t is a part or a copy of an earlier message. A
// response id alone proves neither: some endpoints give every answer the same
// one. Parts of one answer follow each other; a copy says the same, and has
// the same time if times are recorded.
func (e *engine) compareTurn(t *Turn, m *transcript.Message) {
	p := e.path
	adjacent := p.open && p.Before().Line == p.turn.Line && p.done.Len() == 0
	if adjacent && t.response != 0 && p.turn.response == t.response && p.turn.content != t.content &&
		(p.turn.time == t.time || p.turn.time == 0 || t.time == 0) {
		t.Continues = true
		return
	}
	switch calls := m.Calls(); {
	case t.copyKey != 0:
		i := e.uses.onPath(t.copyKey)
		switch {
		case i == none:
		case t.response != 0:
			t.RepeatOf = e.links.Line(i)
		default:
			t.Like = Place{Line: e.links.Line(i), index: i}
		}
	case len(calls) > 0 && !t.Failed:
		if t.RepeatOf = p.unansweredCopy(t); t.RepeatOf == 0 {
			e.compareAnswered(t, calls[0].ID)
		}
	}
}

// unansweredCopy is the line of a message with the same content whose calls
// are not answered, 0 if there is none.
func (p *Path) unansweredCopy(t *Turn) int {
	if of, ok := p.turns.Get(t.content); ok && !p.facts.Omits(of.turn.Entry) {
		return of.turn.Line
	}
	return 0
}

// compareAnswered looks at the earlier message of the path that used the call
// id. Where ids are unique there is none; where they are numbered per turn, the
// time or the response id tells a copy from a new call. Without both, only the
// messages around can.
func (e *engine) compareAnswered(t *Turn, call string) {
	i := e.uses.onPath(e.callKey(useCall, call))
	if i == none {
		return
	}
	m := e.messageAt(i)
	if m == nil || hashContent(e.links.Seed(), m) != t.content {
		return
	}
	var response uint64
	if m.ResponseID != "" {
		response = e.links.Fingerprint(m.ResponseID)
	}
	line := e.links.Line(i)
	switch {
	case m.Timestamp != 0 && t.time != 0:
		if m.Timestamp == t.time {
			t.RepeatOf = line
		}
	case response != 0 && t.response != 0:
		if response == t.response {
			t.RepeatOf = line
		}
	default:
		t.Like = Place{Line: line, index: i}
	}
}

// call folds one tool call of turn t.
func (e *engine) call(t *Turn, block *transcript.Call) {
	p := e.path
	c := Call{
		Place: t.Place, Turn: t, ID: strings.Clone(block.ID), Name: strings.Clone(block.Name), Key: hashCall(e.links.Seed(), block),
		Arguments: block.Arguments, ArgumentsError: block.ArgumentsError, Open: true,
	}
	if block.Column > 0 {
		c.Column = block.Column
	}
	p.standing(&c)
	if c.Standing == Unknowable {
		e.notKnown(c.Line)
	}
	if t.Failed {
		e.uses.add(e.callKey(useFailedCall, c.ID), c.index)
	} else {
		e.compareCall(&c, e.callKey(useCall, c.ID))
	}
	e.each(e.hooks.call, func(ch *Checker) { ch.Call(&e.pass, &c) })
	c.forget()
	p.add(&c)
}

// compareCall looks for earlier calls with the same id.
func (e *engine) compareCall(c *Call, key uint64) {
	p := e.path
	c.Duplicates = p.line(c.ID)
	if before := e.uses.onPath(key); before != none && c.Duplicates == 0 {
		c.Reuses = e.links.Line(before)
		if old, ok := p.owed.Get(c.ID); ok {
			c.Reuses, c.Reopens = 0, old.Line
			if old.seq >= p.judged {
				e.unanswered(old)
			}
			p.settle(old)
		}
	}
	e.uses.add(key, c.index)
}

// unanswered shows rules a call that never got its result.
func (e *engine) unanswered(c *Call) {
	if e.path.facts.Omits(c.Turn.Entry) {
		return // nothing is owed for what is out of later requests
	}
	now := *c
	now.Open = e.path.open && c.exchange == e.path.exchange
	e.each(e.hooks.unanswered, func(ch *Checker) { ch.Unanswered(&e.pass, &now) })
	c.suspicions = now.suspicions
}

// answer folds a tool result.
func (e *engine) answer(m *transcript.Message) {
	p := e.path
	a := Answer{Place: e.pass.place(), Message: m}
	call, answered := p.find(m)
	switch {
	case call == nil:
		call = e.lateAnswer(&a)
	case answered:
		a.Kind, a.First = Again, call.Answered
	default:
		a.Kind = InTime
	}
	if a.Call = call; call != nil {
		a.CallAt = call.Line
	}
	e.file.Durations = e.file.Durations || a.Message.HasDuration
	e.each(e.hooks.answer, func(ch *Checker) { ch.Answer(&e.pass, &a) })
	if call == nil || a.Kind == Again {
		return
	}
	if a.Ran() {
		e.confirm(call, a.Line)
	}
	if a.Kind == Late {
		p.settle(call)
	} else {
		p.answer(call, a.Line)
	}
}

// lateAnswer finds the call of a result outside the open exchange, if it is
// still without one.
func (e *engine) lateAnswer(a *Answer) *Call {
	id := a.Message.ToolCallID
	if c, ok := e.path.owed.Get(id); ok && !e.path.facts.Omits(c.Turn.Entry) {
		a.Kind = Late
		return c
	}
	if i := e.uses.onPath(e.callKey(useCall, id)); i != none {
		a.Kind, a.CallAt = Again, e.links.Line(i)
		return nil
	}
	if i := e.uses.onPath(e.callKey(useFailedCall, id)); i != none {
		a.Kind, a.CallAt = Late, e.links.Line(i)
		return nil
	}
	a.Kind = Orphan
	return nil
}

// confirm reports what was only suspected of a call until it ran.
func (e *engine) confirm(c *Call, line int) {
	for _, s := range c.suspicions {
		f := s.finding
		f.Related = append(slices.Clip(f.Related), Related{Line: line, Message: "it ran"})
		e.report(s.rule, f, s.keep)
	}
}
