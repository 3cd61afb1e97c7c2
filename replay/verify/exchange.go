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
	CallAt int // line of the call; for an orphan that of a call with the id on another branch, 0 if there is none
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

func useKey(kind, id uint64) uint64 {
	// A multiplication by an odd number keeps keys of one kind apart and
	// scatters the kinds.
	return max(1, (id^kind)*0x9E3779B97F4A7C15+kind)
}

// assistant folds an assistant message.
func (e *engine) assistant(m *transcript.Message) {
	p := e.path
	t := &Turn{
		Place: e.pass.place(), StopReason: m.StopReason, Provider: m.Provider, Model: m.Model,
		Failed: m.Failed(), content: hashContent(e.table.seed, m), time: m.Timestamp,
	}
	if m.ResponseID != "" {
		t.response = e.table.fingerprint(m.ResponseID)
	}
	if len(m.Calls()) == 0 && (t.response != 0 || !t.Failed) {
		t.copyKey = useKey(useCopy, mix(mix(t.content, t.response), uint64(t.time)))
	}
	e.compareTurn(t, m)
	t.own()
	e.pass.turn = t
	e.message(m)
	e.pass.turn = nil
	if !t.Continues {
		e.closeExchange()
	}
	if t.RepeatOf != 0 {
		p.drop(func(o *Turn) bool { return o.content == t.content })
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
	if !t.Failed {
		p.before = Before{Line: t.Line, Role: string(transcript.Assistant)}
	}
}

// compareTurn finds out whether t is a part or a copy of an earlier message. A
// response id alone proves neither: some endpoints give every answer the same
// one. Parts of one answer follow each other; a copy says the same, and has
// the same time if times are recorded.
func (e *engine) compareTurn(t *Turn, m *transcript.Message) {
	p := e.path
	adjacent := p.open && p.before.Line == p.turn.Line && !e.answeredSomething()
	if adjacent && t.response != 0 && p.turn.response == t.response && p.turn.content != t.content &&
		(p.turn.time == t.time || p.turn.time == 0 || t.time == 0) {
		t.Continues = true
		return
	}
	switch calls := m.Calls(); {
	case t.copyKey != 0:
		i := e.uses.onPath(t.copyKey, p.tip)
		switch {
		case i == none:
		case t.response != 0:
			t.RepeatOf = int(e.table.row(i).line)
		default:
			t.Like = Place{Line: int(e.table.row(i).line), index: i}
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
	for _, calls := range [][]Call{p.calls, p.late} {
		for i := range calls {
			if c := &calls[i]; c.Answered == 0 && !c.Turn.Failed && c.Turn.content == t.content {
				return c.Turn.Line
			}
		}
	}
	return 0
}

// compareAnswered looks at the earlier message of the path that used the call
// id. Where ids are unique there is none; where they are numbered per turn, the
// time or the response id tells a copy from a new call. Without both, only the
// messages around can.
func (e *engine) compareAnswered(t *Turn, call string) {
	i := e.uses.onPath(useKey(useCall, e.table.fingerprint(call)), e.path.tip)
	if i == none {
		return
	}
	m := e.messageAt(i)
	if m == nil || hashContent(e.table.seed, m) != t.content {
		return
	}
	var response uint64
	if m.ResponseID != "" {
		response = e.table.fingerprint(m.ResponseID)
	}
	line := int(e.table.row(i).line)
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

func (e *engine) answeredSomething() bool {
	return slices.ContainsFunc(e.path.calls, func(c Call) bool { return c.Answered != 0 })
}

// call folds one tool call of turn t.
func (e *engine) call(t *Turn, block *transcript.Call) {
	p := e.path
	c := Call{
		Place: t.Place, Turn: t, ID: strings.Clone(block.ID), Name: strings.Clone(block.Name), Key: hashCall(e.table.seed, block),
		Arguments: block.Arguments, ArgumentsError: block.ArgumentsError, Open: true,
	}
	if block.Column > 0 {
		c.Column = block.Column
	}
	p.standing(&c)
	if c.Standing == Unknowable {
		e.notKnown(c.Line)
	}
	id := e.table.fingerprint(c.ID)
	if t.Failed {
		e.uses.add(useKey(useFailedCall, id), c.index)
	} else {
		e.compareCall(&c, useKey(useCall, id))
	}
	e.each(e.hooks.call, func(ch *Checker) { ch.Call(&e.pass, &c) })
	c.forget()
	p.calls = append(p.calls, c)
}

// compareCall looks for earlier calls with the same id.
func (e *engine) compareCall(c *Call, key uint64) {
	p := e.path
	for i := range p.calls {
		if p.calls[i].ID == c.ID {
			c.Duplicates = p.calls[i].Line
			break
		}
	}
	if before := e.uses.onPath(key, p.tip); before != none && c.Duplicates == 0 {
		c.Reuses = int(e.table.row(before).line)
		for i := range p.late {
			if old := p.late[i]; old.ID == c.ID {
				c.Reuses, c.Reopens = 0, old.Line
				e.each(e.hooks.unanswered, func(ch *Checker) { ch.Unanswered(&e.pass, &old) })
				p.late = slices.Delete(p.late, i, i+1)
				break
			}
		}
	}
	e.uses.add(key, c.index)
}

// answer folds a tool result.
func (e *engine) answer(m *transcript.Message) {
	p := e.path
	a := Answer{Place: e.pass.place(), Message: m}
	late := -1
	if i := p.callFor(m); i >= 0 {
		a.Call, a.Kind = &p.calls[i], InTime
	}
	switch {
	case a.Call != nil && a.Call.Answered != 0:
		a.Kind, a.First = Again, a.Call.Answered
	case a.Call == nil:
		late = e.lateAnswer(&a)
	}
	if a.Call != nil {
		a.CallAt = a.Call.Line
	}
	e.file.Durations = e.file.Durations || a.Message.HasDuration
	e.each(e.hooks.answer, func(ch *Checker) { ch.Answer(&e.pass, &a) })
	if a.Call != nil && a.Kind != Again {
		if a.Ran() {
			e.confirm(a.Call, a.Line)
		}
		a.Call.Answered = a.Line
	}
	if late >= 0 {
		p.late = slices.Delete(p.late, late, late+1)
	}
	p.before = Before{Line: a.Line, Role: string(transcript.ToolResult)}
}

// callFor finds the call of the open exchange that a result answers, -1 if
// there is none: an unanswered one before an answered one, and of those with
// one id the one with the right name.
func (p *Path) callFor(m *transcript.Message) int {
	best, score := -1, 0
	for i := range p.calls {
		c := &p.calls[i]
		if c.ID != m.ToolCallID {
			continue
		}
		s := 1
		if c.Answered == 0 {
			s += 2
		}
		if c.Name == m.ToolName {
			s++
		}
		if s > score {
			best, score = i, s
		}
	}
	return best
}

// lateAnswer finds the call of a result outside the open exchange. It returns
// the place in Path.late of an unanswered one, else -1.
func (e *engine) lateAnswer(a *Answer) int {
	p := e.path
	for i := range p.late {
		if p.late[i].ID == a.Message.ToolCallID {
			a.Call, a.Kind = &p.late[i], Late
			return i
		}
	}
	id := e.table.fingerprint(a.Message.ToolCallID)
	if i := e.uses.onPath(useKey(useCall, id), p.tip); i != none {
		a.Kind, a.CallAt = Again, int(e.table.row(i).line)
		return -1
	}
	if i := e.uses.onPath(useKey(useFailedCall, id), p.tip); i != none {
		a.Kind, a.CallAt = Late, int(e.table.row(i).line)
		return -1
	}
	a.Kind = Orphan
	if i := e.uses.latest(useKey(useCall, id)); i != none {
		a.CallAt = int(e.table.row(i).line)
	}
	return -1
}

// confirm reports what was only suspected of a call until it ran.
func (e *engine) confirm(c *Call, line int) {
	for _, s := range c.suspicions {
		f := s.finding
		f.Related = append(slices.Clip(f.Related), Related{Line: line, Message: "it ran"})
		e.report(s.rule, f, s.keep)
	}
}

// closeExchange ends the open exchange: what it left unanswered is owed from
// now on.
func (e *engine) closeExchange() {
	p := e.path
	for i := range p.calls {
		c := &p.calls[i]
		if c.Answered != 0 || c.Duplicates != 0 || c.Turn.Failed {
			continue
		}
		c.Open = false
		p.late = append(p.late, *c)
	}
	p.calls, p.open = p.calls[:0], false
}
