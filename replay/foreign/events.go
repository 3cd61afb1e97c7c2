package foreign

import (
	"encoding/json"
	"fmt"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
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
		Records: eventRecords,
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

func eventRecords(l *transcript.Line, yield func(string, *transcript.Entry)) {
	for i := range l.Records {
		e := &l.Records[i]
		switch e.Type {
		case transcript.TypeSession:
			yield("", e)
		case EventMessageEnd:
			event, err := ParseEvent(e.Raw)
			if err != nil {
				continue
			}
			if m, err := transcript.ParseMessage(event.Message); err == nil {
				yield(event.Task, &transcript.Entry{Type: transcript.TypeMessage, Message: &m, Line: e.Line, Raw: e.Raw})
			}
		}
	}
}
