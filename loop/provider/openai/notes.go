package openai

import (
	"encoding/json"
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
)

// The kinds of diagnostics that a message can carry: what was odd about an
// answer and how it was read. They stand in the message's "diagnostics", as
// pi has them: type, timestamp, details.
const (
	noteFragmentMoved   = "tool_call_fragment_moved"   // arguments on an index without a call
	noteCallMerged      = "tool_call_merged"           // one call sent twice
	noteNameKept        = "tool_call_name_kept"        // a second name for one call
	noteIDReplaced      = "tool_call_id_replaced"      // an id of an earlier turn
	noteArgumentsMended = "tool_call_arguments_mended" // half a surrogate pair
	noteCallInText      = "tool_call_in_text"          // a call written as text, which does not run
	noteNoCalls         = "tool_calls_without_calls"   // finish_reason tool_calls, and none came
	noteTruncated       = "truncation_relabelled"      // finish_reason denies that the limit was hit
	noteSnapshots       = "content_snapshots"          // each piece repeats the text so far
	noteBroken          = "stream_broken_after_finish" // the end of the stream was not clean
	noteFinishRepeated  = "finish_reason_contradicted" // a second, different finish_reason
	noteThinkingOnly    = "answer_without_text"        // only thinking came
	noteRefusal         = "refusal"                    // the text is a refusal
	noteFrame           = "frame_ignored"              // a data line that is no JSON object
	noteResponseID      = "response_id_repeated"       // an id of an earlier answer
	noteChoice          = "choice_ignored"             // an answer beside the one asked for
)

type note struct{ kind, text string }

// diagnostics gives notes as a field of a message.
func diagnostics(notes []note, at int64) []transcript.Field {
	if len(notes) == 0 {
		return nil
	}
	b := []byte{'['}
	for i, n := range notes {
		if i > 0 {
			b = append(b, ',')
		}
		b = transcript.AppendString(append(b, `{"type":`...), n.kind)
		b = strconv.AppendInt(append(b, `,"timestamp":`...), at, 10)
		b = transcript.AppendString(append(b, `,"details":{"text":`...), n.text)
		b = append(b, "}}"...)
	}
	return []transcript.Field{{Name: "diagnostics", Value: json.RawMessage(append(b, ']'))}}
}
