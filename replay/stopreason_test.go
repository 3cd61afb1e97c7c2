package replay_test

import (
	"testing"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

func TestStopReason(t *testing.T) {
	for raw, want := range map[string]string{
		"stop": transcript.StopEnd, "tool_calls": transcript.StopToolUse, "length": transcript.StopLength, "content_filter": transcript.StopError,
		"end_turn": transcript.StopEnd, "tool_use": transcript.StopToolUse, "max_tokens": transcript.StopLength, "MAX_TOKENS": transcript.StopLength,
	} {
		if got, known := replay.StopReason(raw); got != want || !known {
			t.Errorf("%s: got %q, %v, want %q", raw, got, known, want)
		}
	}
	for _, raw := range []string{"", "weird", "Stop"} {
		if got, known := replay.StopReason(raw); known {
			t.Errorf("%q is known as %q", raw, got)
		}
	}
}
