package rule

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func unbalancedEvents() verify.Rule {
	return verify.Rule{
		ID:       "unbalanced-events",
		Group:    groupHistory,
		Severity: verify.Error,
		Title:    "in an event log, starts and ends do not match",
		Why: "Who counts on an end waits for ever, and a run that lost its tools looks complete " +
			"(vercel/workflow#1387: three calls, no output, two finish events, status completed; anthropics/claude-code-action#1462). A note where the log was cut.",
		Fix:   "Emit an end for every start, also when a tool or a turn fails.",
		Quiet: "Parallel tools that interleave, the first turn that starts before the messages of the prompt, dropped updates.",
		Since: "0.1.0",
		Needs: foreign.Lifecycle,
		Bad: `{"type":"agent_start"}
{"type":"turn_start"}
{"type":"tool_execution_start","toolCallId":"c1","toolName":"read","args":{}}
{"type":"tool_execution_end","toolCallId":"c2","toolName":"read","isError":false}
{"type":"turn_end","message":{},"toolResults":[]}
{"type":"agent_end","messages":[]}
`,
		Good: `{"type":"agent_start"}
{"type":"turn_start"}
{"type":"tool_execution_start","toolCallId":"c1","toolName":"read","args":{}}
{"type":"tool_execution_start","toolCallId":"c2","toolName":"read","args":{}}
{"type":"tool_execution_end","toolCallId":"c2","toolName":"read","isError":false}
{"type":"tool_execution_end","toolCallId":"c1","toolName":"read","isError":false}
{"type":"turn_end","message":{},"toolResults":[]}
{"type":"agent_end","messages":[]}
`,
		New: func(verify.Values) verify.Checker {
			tasks := make(map[string]*balance)
			return verify.Checker{
				Line: func(p *verify.Pass, l *transcript.Line) {
					for i := range l.Records {
						readEvent(p, tasks, &l.Records[i])
					}
				},
				End: func(p *verify.Pass) { cutOff(p, tasks) },
			}
		},
	}
}

// balance is what is open in the events of a task.
type balance struct {
	agent, turn, message *start
	tools                []start
	answer               uint64 // hash of the last assistant message that ended
	answered             bool
}

// start is an event that wants an end.
type start struct {
	what, id string
	at       verify.Place
}

func readEvent(p *verify.Pass, tasks map[string]*balance, e *transcript.Entry) {
	switch e.Type {
	case foreign.EventAgentStart, foreign.EventAgentEnd, foreign.EventTurnStart, foreign.EventTurnEnd, foreign.EventMessageStart,
		foreign.EventMessageEnd, foreign.EventToolStart, foreign.EventToolEnd, foreign.EventAgentSettled, foreign.EventTaskEnd:
	case foreign.EventBatchEnd:
		for _, task := range sortedKeys(tasks) {
			tasks[task].closeAll(p, "before the batch ended")
		}
		return
	default:
		return
	}
	event, err := foreign.ParseEvent(e.Raw)
	if err != nil {
		return
	}
	b := tasks[event.Task]
	if b == nil {
		b = new(balance)
		tasks[event.Task] = b
	}
	here := start{what: strings.Clone(e.Type), id: event.ToolCallID, at: p.Place()}
	switch e.Type {
	case foreign.EventAgentStart:
		if b.agent == nil && b.turn != nil {
			p.Report(p.Finding("%s inside a turn", here.what))
		}
		open(p, &b.agent, here)
	case foreign.EventAgentEnd:
		b.closeTurn(p, "before the agent ended")
		end(p, &b.agent, here)
	case foreign.EventAgentSettled:
		b.closeAll(p, "before the agent settled")
	case foreign.EventTaskEnd:
		b.closeAll(p, "before the task ended")
	case foreign.EventTurnStart:
		open(p, &b.turn, here)
	case foreign.EventTurnEnd:
		b.endTurn(p, here, event.Message)
	case foreign.EventMessageStart:
		open(p, &b.message, here)
	case foreign.EventMessageEnd:
		end(p, &b.message, here)
		b.remember(p, event.Message)
	case foreign.EventToolStart:
		b.tools = append(b.tools, here)
	case foreign.EventToolEnd:
		b.endTool(p, here)
	}
}

// open notes a start. One that is open already never got its end.
func open(p *verify.Pass, slot **start, s start) {
	if *slot != nil {
		unended(p, *slot, "before the next one")
	}
	*slot = &s
}

// end closes a start; without one, the end has come out of nowhere.
func end(p *verify.Pass, slot **start, s start) {
	if *slot == nil {
		f := p.Finding("%s without its start", s.what)
		f.Subject = s.what
		p.Report(f)
	}
	*slot = nil
}

func (b *balance) close(p *verify.Pass, slot **start, when string) {
	if *slot != nil {
		unended(p, *slot, when)
		*slot = nil
	}
}

// closeTurn closes a turn with all that is open in it.
func (b *balance) closeTurn(p *verify.Pass, when string) {
	b.close(p, &b.message, when)
	for i := range b.tools {
		unended(p, &b.tools[i], when)
	}
	b.tools = nil
	b.close(p, &b.turn, when)
}

// closeAll closes whatever is open where the log goes on: it was not cut.
func (b *balance) closeAll(p *verify.Pass, when string) {
	b.closeTurn(p, when)
	b.close(p, &b.agent, when)
}

func unended(p *verify.Pass, s *start, when string) {
	f := s.at.Finding("%s has no end %s", s.what, when)
	f.Subject = s.what + " " + s.id
	p.Report(f)
}

func (b *balance) endTool(p *verify.Pass, s start) {
	i := slices.IndexFunc(b.tools, func(t start) bool { return t.id == s.id })
	if i < 0 {
		f := p.Finding("%s of %s without its start", s.what, quote(s.id))
		f.Subject = s.what + " " + s.id
		p.Report(f)
		return
	}
	b.tools = slices.Delete(b.tools, i, i+1)
}

func (b *balance) endTurn(p *verify.Pass, s start, message json.RawMessage) {
	b.close(p, &b.message, "before the turn ended")
	for i := range b.tools {
		unended(p, &b.tools[i], "before the turn ended")
	}
	b.tools = nil
	m, err := transcript.ParseMessage(message)
	// An exception between two turns ends a turn that never began.
	if b.turn != nil || err != nil || !m.Failed() {
		end(p, &b.turn, s)
	}
	if err == nil && b.answered && m.Role == transcript.Assistant && p.HashContent(&m) != b.answer {
		f := p.Finding("the message of the turn is not the one that ended last")
		f.Subject = "message"
		p.Report(f)
	}
	b.turn, b.answered = nil, false
}

func (b *balance) remember(p *verify.Pass, message json.RawMessage) {
	if m, err := transcript.ParseMessage(message); err == nil && m.Role == transcript.Assistant {
		b.answer, b.answered = p.HashContent(&m), true
	}
}

// cutOff notes what is open where the log ends.
func cutOff(p *verify.Pass, tasks map[string]*balance) {
	for _, task := range sortedKeys(tasks) {
		b := tasks[task]
		for _, s := range []*start{b.agent, b.turn, b.message} {
			if s != nil {
				b.tools = append(b.tools, *s)
			}
		}
		for i := range b.tools {
			s := &b.tools[i]
			f := s.at.Finding("%s has no end: the log was cut", s.what)
			f.Subject, f.Severity = s.what+" "+s.id, verify.Note
			p.Report(f)
		}
	}
}
