package diff

import (
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// step is an entry of a path that is compared, by what is needed to align it.
// What it says is read again when it is shown.
type step struct {
	kind   string // role of a message, else type of the entry
	entry  uint32 // in the file; in the context for a cut
	line   int
	whole  jsondiff.Digest // all that is compared
	said   jsondiff.Digest // without the settings of the model and without volatile members
	calls  jsondiff.Digest // kind, and the calls with their arguments, or the call of a result
	shape  jsondiff.Digest // kind, and the names of the calls, or the tool of a result
	role   jsondiff.Digest // kind, and the tool of a result: of another tool it is another result
	target int             // step that it refers to, -1 for none or one off the path
	nth    int             // which call of the target
	turn   int             // of the path, from 1; 0 before the first request
	number int             // of the message on the path, from 1; of the one before for other entries
	failed bool            // an answer that did not arrive
	at     *situation

	made []made          // the calls of an answer
	ids  jsondiff.Digest // texts of its call ids, which are not compared
}

// made is a call of an answer: name and arguments, and how many of those before
// it say the same.
type made struct {
	sum jsondiff.Digest
	nth int
}

func (s *step) message() bool { return s.kind != "" && isRole(s.kind) }

// entry kinds have the names of types, messages those of roles: no name is
// both but custom.
func isRole(kind string) bool {
	switch transcript.Role(kind) {
	case transcript.System, transcript.User, transcript.Assistant, transcript.ToolResult, transcript.BashExecution,
		transcript.CompactionSummary, transcript.BranchSummaryRole, appMessage:
		return true
	}
	return false
}

// appMessage is the kind of messages that extensions put into the context.
const appMessage = "custom message"

// reader digests entries.
type reader struct {
	ignored
	jsondiff.Digester
}

// kindOf names what an entry is.
func kindOf(e *transcript.Entry) string {
	switch {
	case e.Message != nil && (isRole(string(e.Message.Role)) && e.Message.Role != appMessage):
		return string(e.Message.Role)
	case e.Message != nil, e.Type == transcript.TypeCustomMessage:
		return appMessage
	}
	return e.Type
}

// isSetting reports whether an entry says under which conditions requests go
// out, or only accounts for them. Those are compared as situations.
func (r *reader) isSetting(e *transcript.Entry) bool {
	switch e.Type {
	case transcript.TypeSession, transcript.TypeModelChange, transcript.TypeThinking:
		return true
	case transcript.TypeUsage:
		return r.ignored["usage"]
	case transcript.TypeCustom:
		return e.Custom != nil && isOwn(e.Custom.CustomType)
	}
	return false
}

// digest says of a step what its entry is and says.
func (r *reader) digest(s *step, e *transcript.Entry) {
	s.kind, s.target = own(kindOf(e)), -1
	t := r.trees(e)
	s.said = r.Sum(s.kind, t.said)
	s.whole = s.said
	if len(t.settings)+len(t.rest) > 0 {
		s.whole = r.Sum(s.said, t.settings, t.rest)
	}
	s.role = r.Sum(s.kind)
	s.shape, s.calls = s.role, s.role
	switch m := e.Message; {
	case m == nil:
	case m.Role == transcript.Assistant:
		s.failed = m.Failed()
		r.digestCalls(s, m, t.said)
	case m.Role == transcript.ToolResult:
		s.ids = r.Sum(m.ToolCallID)
		s.role = r.Sum(s.kind, m.ToolName)
		s.shape, s.calls = s.role, s.role
	}
}

// digestCalls digests what aligns answers that are not the same. said is the
// message's tree, in which the arguments are decoded.
func (r *reader) digestCalls(s *step, m *transcript.Message, said map[string]any) {
	blocks, _ := said["content"].([]any)
	var names, calls, ids []any
	same := map[jsondiff.Digest]int{}
	for i := range m.Content {
		b := &m.Content[i]
		if b.Call == nil || b.Type != transcript.BlockToolCall {
			continue
		}
		sum := r.Sum(member(blocks[i], "name"), member(blocks[i], "arguments"))
		s.made = append(s.made, made{sum, same[sum]})
		same[sum]++
		names, calls, ids = append(names, member(blocks[i], "name")), append(calls, sum), append(ids, b.Call.ID)
	}
	s.shape = r.Sum(s.kind, names)
	s.calls, s.ids = r.Sum(s.kind, calls), r.Sum(ids)
}
