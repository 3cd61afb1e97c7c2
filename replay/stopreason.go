package replay

import "github.com/turnlog/turnlog/replay/transcript"

// stopReasons maps the words of endpoints to those of transcripts: OpenAI's
// and its imitators', Anthropic's, Google's.
var stopReasons = map[string]string{
	"stop":           transcript.StopEnd,
	"end":            transcript.StopEnd,
	"eos":            transcript.StopEnd,
	"eos_token":      transcript.StopEnd,
	"length":         transcript.StopLength,
	"tool_calls":     transcript.StopToolUse,
	"function_call":  transcript.StopToolUse,
	"content_filter": transcript.StopError,
	"error":          transcript.StopError,
	"network_error":  transcript.StopError,

	"end_turn":                      transcript.StopEnd,
	"stop_sequence":                 transcript.StopEnd,
	"pause_turn":                    transcript.StopEnd,
	"max_tokens":                    transcript.StopLength,
	"model_context_window_exceeded": transcript.StopLength,
	"tool_use":                      transcript.StopToolUse,
	"refusal":                       transcript.StopError,
	"sensitive":                     transcript.StopError,

	"STOP":                    transcript.StopEnd,
	"MAX_TOKENS":              transcript.StopLength,
	"SAFETY":                  transcript.StopError,
	"RECITATION":              transcript.StopError,
	"MALFORMED_FUNCTION_CALL": transcript.StopError,
}

// StopReason gives the stop reason of a transcript for what an endpoint calls
// it, in OpenAI's, Anthropic's or Google's words. It is false for any other
// word; what such an answer is worth is not known.
func StopReason(raw string) (string, bool) {
	reason, known := stopReasons[raw]
	return reason, known
}
