package foreign

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// Types of records of an event log.
const (
	EventAgentStart   = "agent_start"
	EventAgentEnd     = "agent_end"
	EventAgentSettled = "agent_settled"
	EventTurnStart    = "turn_start"
	EventTurnEnd      = "turn_end"
	EventMessageStart = "message_start"
	EventMessageEnd   = "message_end"
	EventToolStart    = "tool_execution_start"
	EventToolEnd      = "tool_execution_end"
	EventTaskStart    = "task_start"
	EventTaskEnd      = "task_end"
	EventBatchStart   = "batch_start"
	EventBatchEnd     = "batch_end"
)

// events is the NDJSON that a run emits: `turnlog run` and `pi --mode json`.
// Each finished message is an entry; a log of several tasks has a chain for
// each.
func events() Format {
	return Format{
		Name:      "events",
		Title:     "an event log",
		Knowledge: replay.Exact,
		Sniff: func(h *Head) bool {
			return h.any(func(o Object) bool {
				return o.is(EventAgentStart, EventTurnStart, EventMessageStart, EventTaskStart, EventBatchStart) &&
					!o.has("parentId") && !o.has("uuid")
			})
		},
		Can:   Lifecycle,
		Lines: func() func(*transcript.Line) tree.Part { return new(eventLog).part },
	}
}

// Event is the part of an event that checks need.
type Event struct {
	Type       string          `json:"type"`
	Task       string          `json:"task"`
	ToolCallID string          `json:"toolCallId"`
	Message    json.RawMessage `json:"message"`
}

// ParseEvent reads a record of an event log.
func ParseEvent(raw json.RawMessage) (Event, error) {
	var e Event
	if err := json.Unmarshal(raw, &e); err != nil {
		return Event{}, fmt.Errorf("parse event: %w", err)
	}
	return e, nil
}

// eventLog gives the records of an event log. A message is one of its task's
// chain, under a made-up name.
type eventLog struct{ records []tree.Record }

func (log *eventLog) part(l *transcript.Line) tree.Part {
	log.records = log.records[:0]
	for i := range l.Records {
		e := &l.Records[i]
		switch e.Type {
		case transcript.TypeSession:
			log.add(l, "", e)
		case EventMessageEnd:
			event, err := ParseEvent(e.Raw)
			if err != nil {
				continue
			}
			if m, err := transcript.ParseMessage(event.Message); err == nil {
				log.add(l, event.Task, &transcript.Entry{Type: transcript.TypeMessage, Message: &m, Line: e.Line, Raw: e.Raw})
			}
		}
	}
	return tree.Part{Line: l, Records: log.records}
}

func (log *eventLog) add(l *transcript.Line, chain string, e *transcript.Entry) {
	r := tree.Record{Entry: e, Follows: true, Chain: chain, Offset: l.Offset, N: len(log.records)}
	r.Name = "line-" + strconv.Itoa(l.No) + "." + strconv.Itoa(r.N+1)
	log.records = append(log.records, r)
}
