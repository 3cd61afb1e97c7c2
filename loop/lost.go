package loop

import (
	"slices"

	"github.com/turnlog/turnlog/replay/transcript"
)

// shown is what readers saw begin and did not see end.
type shown struct {
	turn    bool
	message bool
	calls   []*transcript.Call
	retry   *RetryEvent
}

func (s *shown) note(e *Event) {
	switch e.Type {
	case TurnStart, TurnEnd:
		s.turn = e.Type == TurnStart
	case MessageStart, MessageEnd:
		s.message = e.Type == MessageStart
	case ToolExecutionStart:
		s.calls = append(s.calls, e.Call)
	case ToolExecutionEnd:
		s.calls = slices.DeleteFunc(s.calls, func(c *transcript.Call) bool { return c == e.Call })
	case AutoRetryStart:
		s.retry = e.Retry
	case AutoRetryEnd:
		s.retry = nil
	}
}

// lost shows the end of a run that could not write its transcript: what was
// shown to begin ends with the failure of the run, instead of with results and
// answers that are not on disk.
func (r *run) lost() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range slices.Clone(r.shown.calls) {
		result := errorResult(r.writeErr.Error())
		r.send(Event{Type: ToolExecutionEnd, Call: c, Result: &result, IsError: true, DurationMs: -1})
	}
	if retry := r.shown.retry; retry != nil {
		r.send(Event{Type: AutoRetryEnd, Retry: &RetryEvent{RetryInfo: retry.RetryInfo, Error: r.writeErr.Error()}})
	}
	if !r.shown.turn {
		r.send(Event{Type: TurnStart})
	}
	m := r.failed(transcript.StopError, r.writeErr)
	m.Timestamp = r.now().UnixMilli()
	if !r.shown.message {
		r.send(Event{Type: MessageStart, Message: &m})
	}
	r.send(Event{Type: MessageEnd, Message: &m})
	r.send(Event{Type: TurnEnd, Message: &m})
	r.send(Event{Type: AgentEnd, Messages: []transcript.Message{m}})
}
