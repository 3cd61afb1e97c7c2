package answer

import (
	"encoding/json"
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
)

// The kinds of diagnostics that a message can carry: what was odd about an
// answer and how it was read. They stand in the message's "diagnostics", as
// pi has them: type, timestamp, details.
const (
	NoteFragmentMoved   = "tool_call_fragment_moved"   // arguments on an index without a call
	NoteCallMerged      = "tool_call_merged"           // one call sent twice
	NoteNameKept        = "tool_call_name_kept"        // a second name for one call
	NoteIDReplaced      = "tool_call_id_replaced"      // an id of an earlier turn
	NoteArgumentsMended = "tool_call_arguments_mended" // half a surrogate pair
	NoteCallInText      = "tool_call_in_text"          // a call written as text, which does not run
	NoteNoCalls         = "tool_calls_without_calls"   // finish_reason tool_calls, and none came
	NoteTruncated       = "truncation_relabelled"      // finish_reason denies that the limit was hit
	NoteSnapshots       = "content_snapshots"          // each piece repeats the text so far
	NoteBroken          = "stream_broken_after_finish" // the end of the stream was not clean
	NoteFinishRepeated  = "finish_reason_contradicted" // a second, different finish_reason
	NoteThinkingOnly    = "answer_without_text"        // only thinking came
	NoteRefusal         = "refusal"                    // the text is a refusal
	NoteFrame           = "frame_ignored"              // a data line that is no JSON object
	NoteResponseID      = "response_id_repeated"       // an id of an earlier answer
	NoteChoice          = "choice_ignored"             // an answer beside the one asked for
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
