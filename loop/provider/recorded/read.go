package recorded

import (
	"encoding/json"
	"slices"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// reader takes a path apart into runs and turns.
type reader struct {
	recording *Recording
	state     replay.State
	pending   []transcript.Message
	followUp  bool
	open      *run // run that is being read
	marked    bool // the transcript says where runs begin
	votes     map[string]bool
}

func (r *reader) entry(e *transcript.Entry) {
	switch {
	case e.Message != nil:
		r.message(e.ID, e.Message)
	case e.Custom != nil && e.Custom.Message != nil:
		r.said(e.Custom.Message)
	case e.Custom != nil:
		r.note(e.Custom)
	case e.Edit != nil && e.Edit.Replacement == nil:
		r.drop(e.Edit.TargetID)
	}
	r.state.Apply(e)
}

func (r *reader) message(id string, m *transcript.Message) {
	switch m.Role {
	case transcript.Assistant:
		r.answer(id, m)
	case transcript.ToolResult:
		ran := m.HasDuration || m.DurationMs > 0
		r.recording.results[m.ToolCallID] = append(r.recording.results[m.ToolCallID], result{
			Result: loop.Result{
				Content: m.Content, Details: m.Details, Usage: m.ToolUsage,
				IsError: m.IsError, Terminate: r.votes[m.ToolCallID],
			},
			ran: ran,
		})
	default:
		r.said(m)
	}
}

// said keeps a message for the turn that follows. A pure declaration is left
// to the loop, which says it by itself.
func (r *reader) said(m *transcript.Message) {
	if m.Role == transcript.System && len(m.Content) == 0 && len(m.Sections) == 0 {
		return
	}
	if !r.marked && m.Role == transcript.User && r.settled() {
		r.endRun()
	}
	said := *m
	said.Timestamp = 0
	r.pending = append(r.pending, said)
}

// settled reports whether the last turn owed nothing more: without marks, a
// user message after it begins a run.
func (r *reader) settled() bool {
	turns := r.recording.turns
	if r.open == nil || len(turns) == r.open.first {
		return false
	}
	last := turns[len(turns)-1].answer
	return last.Failed() || len(last.Calls()) == 0
}

func (r *reader) answer(id string, m *transcript.Message) {
	run := r.begin()
	t := turn{answer: m, entry: id, followUp: r.followUp}
	for _, d := range r.state.Tools() {
		t.tools = append(t.tools, d.Tool)
	}
	first := len(r.recording.turns) == run.first
	run.resumed = run.resumed || first && len(r.pending) == 0
	if first && !run.resumed {
		run.prompts = r.pending
	} else {
		t.pending = r.pending
	}
	r.pending, r.followUp = nil, false
	r.recording.turns = append(r.recording.turns, t)
}

// begin gives the run that is being read.
func (r *reader) begin() *run {
	if r.open == nil {
		r.open = &run{first: len(r.recording.turns)}
	}
	return r.open
}

func (r *reader) endRun() {
	if r.open == nil {
		return
	}
	r.open.end = len(r.recording.turns)
	if r.open.end > r.open.first {
		r.recording.runs = append(r.recording.runs, *r.open)
	}
	r.open = nil
}

// drop takes an answer away that was tried again: pi appends the failed one
// and edits it out.
func (r *reader) drop(id string) {
	turns := r.recording.turns
	if len(turns) == 0 || id == "" || turns[len(turns)-1].entry != id || !turns[len(turns)-1].answer.Failed() {
		return
	}
	last := turns[len(turns)-1]
	r.recording.turns = turns[:len(turns)-1]
	r.pending, r.followUp = append(last.pending, r.pending...), last.followUp
}

// note reads what turnlog itself wrote. An entry that does not parse says
// nothing: the transcript is for verify to judge.
func (r *reader) note(c *transcript.Custom) {
	switch c.CustomType {
	case transcript.CustomRun:
		v := decoded[transcript.Run](c)
		r.endRun()
		r.marked = true
		r.begin().resumed = v.Resumed
		r.open.execution = loop.Execution(v.ToolExecution)
	case transcript.CustomRequest:
		queued := decoded[transcript.Request](c).Queued
		r.followUp = slices.ContainsFunc(queued, func(q transcript.Queued) bool { return q.Via == "follow_up" })
	case transcript.CustomResult:
		v := decoded[transcript.CallResult](c)
		r.votes[v.ToolCallID] = v.Terminate
	case transcript.CustomTurn:
		r.closeTurn(decoded[transcript.TurnRecord](c))
	}
}

func decoded[T any](c *transcript.Custom) (v T) {
	_ = json.Unmarshal(c.Data, &v)
	return v
}

// closeTurn notes how the last turn ended. A unanimous vote is one of each of
// its results.
func (r *reader) closeTurn(v transcript.TurnRecord) {
	turns := r.recording.turns
	if len(turns) == 0 {
		return
	}
	t := &turns[len(turns)-1]
	t.closed, t.decision, t.terminated = true, loop.Decision(v.Decision), v.Terminated
	if !v.Terminated {
		return
	}
	for _, c := range t.answer.Calls() {
		if list := r.recording.results[c.ID]; len(list) > 0 {
			list[len(list)-1].Terminate = true
		}
	}
}
