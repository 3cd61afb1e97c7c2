package loop

import "github.com/turnlog/turnlog/replay/transcript"

// Event is one thing that happened, in the names and fields of pi's JSON mode.
// Which fields are set depends on the type.
type Event struct {
	Type EventType

	// Message of message_start, message_update, message_end, turn_end. While
	// an answer streams, Message and Delta go on changing after the call:
	// Clone gives an event that may be kept.
	Message  *transcript.Message
	Messages []transcript.Message // agent_end: what the run added
	Results  []transcript.Message // turn_end: toolResults
	Delta    *Delta               // message_update: assistantMessageEvent

	Call       *transcript.Call // tool_execution_*: id, name, raw arguments
	Result     *Result          // tool_execution_update (partialResult) and _end
	IsError    bool             // tool_execution_end
	DurationMs int64            // tool_execution_end; -1 if the tool did not run

	Retry *RetryEvent // auto_retry_*

	Entry *transcript.Entry // message_end: the entry as appended; nil without a transcript, and for the failure of a run that could not write its own
}

// RetryEvent is what the auto_retry_* events say.
type RetryEvent struct {
	RetryInfo
	Error   string // why the attempt before failed; of auto_retry_end: why the last one did
	Success bool   // of auto_retry_end
}

// EventType names an event.
type EventType string

// The events of a run. Every start has its end, whatever fails.
const (
	AgentStart          EventType = "agent_start"
	AgentEnd            EventType = "agent_end"
	TurnStart           EventType = "turn_start"
	TurnEnd             EventType = "turn_end"
	MessageStart        EventType = "message_start"
	MessageUpdate       EventType = "message_update"
	MessageEnd          EventType = "message_end"
	ToolExecutionStart  EventType = "tool_execution_start"
	ToolExecutionUpdate EventType = "tool_execution_update"
	ToolExecutionEnd    EventType = "tool_execution_end"
	AutoRetryStart      EventType = "auto_retry_start"
	AutoRetryEnd        EventType = "auto_retry_end"
)
