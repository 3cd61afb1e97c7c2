package loop

import (
	"encoding/json"
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
)

// AppendEvent appends e as one JSON object, a record of pi's JSON mode. A
// message_update carries its delta and the usage so far, never the message.
func AppendEvent(dst []byte, e *Event) []byte {
	return append(AppendMembers(append(dst, '{'), e), '}')
}

// AppendMembers appends what AppendEvent does without the braces, for callers
// that put members of their own beside it. The type comes first.
func AppendMembers(dst []byte, e *Event) []byte {
	dst = appendString(append(dst, `"type":`...), string(e.Type))
	switch e.Type {
	case AgentEnd:
		dst = appendMessages(append(dst, `,"messages":`...), e.Messages)
		dst = append(dst, `,"willRetry":false`...)
	case MessageStart, MessageEnd:
		dst = transcript.AppendMessage(append(dst, `,"message":`...), e.Message)
	case MessageUpdate:
		dst = appendUpdate(dst, e)
	case TurnEnd:
		dst = transcript.AppendMessage(append(dst, `,"message":`...), e.Message)
		dst = appendMessages(append(dst, `,"toolResults":`...), e.Results)
	case ToolExecutionStart:
		dst = appendCallMembers(dst, e.Call, true)
	case ToolExecutionUpdate:
		dst = appendCallMembers(dst, e.Call, true)
		dst = appendResult(append(dst, `,"partialResult":`...), e.Result)
	case ToolExecutionEnd:
		dst = appendCallMembers(dst, e.Call, false)
		dst = appendResult(append(dst, `,"result":`...), e.Result)
		dst = strconv.AppendBool(append(dst, `,"isError":`...), e.IsError)
		if e.DurationMs >= 0 {
			dst = strconv.AppendInt(append(dst, `,"durationMs":`...), e.DurationMs, 10)
		}
	case AutoRetryStart, AutoRetryEnd:
		dst = appendRetry(dst, e)
	}
	return dst
}

func appendMessages(dst []byte, ms []transcript.Message) []byte {
	dst = append(dst, '[')
	for i := range ms {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = transcript.AppendMessage(dst, &ms[i])
	}
	return append(dst, ']')
}

// appendUpdate appends usage and the delta. A tool call's start says what it
// is, so that a reader can show it before its arguments are there.
func appendUpdate(dst []byte, e *Event) []byte {
	if e.Message != nil && e.Message.Usage != nil {
		dst = transcript.AppendUsage(append(dst, `,"usage":`...), e.Message.Usage)
	}
	d := e.Delta
	dst = appendString(append(dst, `,"assistantMessageEvent":{"type":`...), string(d.Kind))
	dst = strconv.AppendInt(append(dst, `,"contentIndex":`...), int64(d.Index), 10)
	switch d.Kind {
	case TextDelta, ThinkingDelta, ToolCallDelta:
		dst = appendString(append(dst, `,"delta":`...), d.Text)
	case TextEnd, ThinkingEnd:
		dst = appendString(append(dst, `,"content":`...), d.Text)
	case ToolCallStart:
		if d.Call != nil {
			dst = appendString(append(dst, `,"id":`...), d.Call.ID)
			dst = appendString(append(dst, `,"toolName":`...), d.Call.Name)
		}
	case ToolCallEnd:
		dst = transcript.AppendBlock(append(dst, `,"toolCall":`...), endedCall(d))
	}
	return append(dst, '}')
}

// endedCall is the block of a toolcall_end.
func endedCall(d *Delta) *transcript.Block {
	if d.Block != nil {
		return d.Block
	}
	return &transcript.Block{Type: transcript.BlockToolCall, Call: d.Call}
}

func appendCallMembers(dst []byte, c *transcript.Call, args bool) []byte {
	dst = appendString(append(dst, `,"toolCallId":`...), c.ID)
	dst = appendString(append(dst, `,"toolName":`...), c.Name)
	if args {
		dst = appendRaw(append(dst, `,"args":`...), c.Arguments)
	}
	return dst
}

// appendResult appends a tool's result as events and turnlog.result show it.
func appendResult(dst []byte, r *Result) []byte {
	dst = append(dst, `{"content":[`...)
	for i := range r.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = transcript.AppendBlock(dst, &r.Content[i])
	}
	dst = append(dst, ']')
	if r.Details != nil {
		dst = appendRaw(append(dst, `,"details":`...), r.Details)
	}
	if r.StructuredContent != nil {
		dst = appendRaw(append(dst, `,"structuredContent":`...), r.StructuredContent)
	}
	if r.Usage != nil {
		dst = appendRaw(append(dst, `,"usage":`...), r.Usage)
	}
	if r.Terminate {
		dst = append(dst, `,"terminate":true`...)
	}
	return append(dst, '}')
}

func appendRetry(dst []byte, e *Event) []byte {
	if e.Type == AutoRetryEnd {
		dst = strconv.AppendBool(append(dst, `,"success":`...), e.Retry.Success)
	}
	dst = strconv.AppendInt(append(dst, `,"attempt":`...), int64(e.Retry.Attempt), 10)
	if e.Type == AutoRetryEnd {
		if !e.Retry.Success {
			dst = appendString(append(dst, `,"finalError":`...), e.Retry.Error)
		}
		return dst
	}
	dst = strconv.AppendInt(append(dst, `,"maxAttempts":`...), int64(e.Retry.MaxAttempts), 10)
	dst = strconv.AppendInt(append(dst, `,"delayMs":`...), e.Retry.DelayMs, 10)
	return appendString(append(dst, `,"errorMessage":`...), e.Retry.Error)
}

func appendRaw(dst []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return append(dst, "{}"...)
	}
	return transcript.AppendRaw(dst, raw)
}

func appendString(dst []byte, s string) []byte { return transcript.AppendString(dst, s) }
