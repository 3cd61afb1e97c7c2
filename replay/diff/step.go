package diff

import (
	"github.com/turnlog/turnlog/replay/transcript"
)

// step is an entry of a path that is compared, by what is needed to align it.
// What it says is read again when it is shown.
type step struct {
	kind   string // role of a message, else type of the entry
	entry  int    // index in the tree; in the context for a cut
	spot   spot
	whole  digest // all that is compared
	said   digest // without the settings of the model and without volatile members
	calls  digest // kind, and the calls with their arguments, or the call of a result
	shape  digest // kind, and the names of the calls, or the tool of a result
	target int    // step that it refers to, -1 for none or one off the path
	nth    int    // which call of the target
	turn   int    // of the path, from 1; 0 before the first request
	number int    // of the message on the path, from 1; of the one before for other entries
	failed bool   // an answer that did not arrive
	at     *situation

	made []made // the calls of an answer
	ids  digest // texts of its call ids, which are not compared
}

// made is a call of an answer: name and arguments, and how many of those before
// it say the same.
type made struct {
	sum digest
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

// spot is where a record stands in its file.
type spot struct {
	line   int
	offset int64
	size   int64
	record int // of the line
}

// record is an entry as it was read, before it is known which path counts.
type record struct {
	step
	callIDs []string // of an answer
	answers string   // the call that a result is for
	about   string   // the entry that another entry refers to
	skip    bool     // is no step: a setting, or ignored
}

// reader makes records of entries.
type reader struct {
	ignore ignored
	scratch
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
		return r.ignore["usage"]
	case transcript.TypeCustom:
		return e.Custom != nil && isOwn(e.Custom.CustomType)
	}
	return false
}

// record digests an entry.
func (r *reader) record(e *transcript.Entry) record {
	rec := record{step: step{kind: kindOf(e), target: -1}, skip: r.isSetting(e)}
	if rec.skip {
		return rec
	}
	said, settings, rest := r.trees(e)
	rec.said = r.sum(rec.kind, said)
	rec.whole = rec.said
	if len(settings)+len(rest) > 0 {
		rec.whole = r.sum(rec.said, settings, rest)
	}
	rec.shape = r.sum(rec.kind)
	rec.calls = rec.shape
	if m := e.Message; m != nil {
		r.messageKeys(&rec, m, said)
	} else {
		rec.about = reference(e)
	}
	return rec
}

// messageKeys digests what aligns messages that are not the same: calls and
// results. said is the message's tree, in which the arguments are decoded.
func (r *reader) messageKeys(rec *record, m *transcript.Message, said map[string]any) {
	rec.failed = m.Failed()
	switch m.Role {
	case transcript.Assistant:
		blocks, _ := said["content"].([]any)
		var names, calls, ids []any
		same := map[digest]int{}
		for i := range m.Content {
			b := &m.Content[i]
			if b.Call == nil || b.Type != transcript.BlockToolCall {
				continue
			}
			call, _ := blocks[i].(map[string]any)
			rec.callIDs = append(rec.callIDs, b.Call.ID)
			ids = append(ids, b.Call.ID)
			sum := r.sum(call["name"], call["arguments"])
			rec.made = append(rec.made, made{sum, same[sum]})
			same[sum]++
			names = append(names, call["name"])
			calls = append(calls, sum)
		}
		rec.shape = r.sum(rec.kind, names)
		rec.calls, rec.ids = r.sum(rec.kind, calls), r.sum(ids)
	case transcript.ToolResult:
		rec.answers, rec.ids = m.ToolCallID, r.sum(m.ToolCallID)
		rec.shape = r.sum(rec.kind, m.ToolName)
		rec.calls = rec.shape
	}
}

// trees gives what is compared of an entry: what it says, settings, and
// volatile members that were asked for.
func (r *reader) trees(e *transcript.Entry) (said, settings, rest map[string]any) {
	if e.Message != nil {
		said, settings, rest = messageTree(e.Message, r.ignore)
	} else {
		said = entryTree(e, r.ignore)
	}
	links := &object{ignore: r.ignore}
	links.put("id", e.ID)
	links.put("parentId", e.ParentID)
	links.put("timestamp", e.Timestamp)
	if len(links.members) > 0 {
		if rest == nil {
			rest = map[string]any{}
		}
		rest["entry"] = links.members
	}
	return said, settings, rest
}

// entryTree is an entry that is no message, without its links.
func entryTree(e *transcript.Entry, ignore ignored) map[string]any {
	raw := e.Raw
	if raw == nil {
		raw = transcript.AppendEntry(nil, e)
	}
	tree := bare(raw, ignore)
	for _, name := range []string{"id", "parentId", "timestamp", "targetId", "firstKeptEntryId", "firstKeptEntryIndex", "fromId"} {
		delete(tree, name)
	}
	return tree
}

// reference is the id of the entry that another one is about.
func reference(e *transcript.Entry) string {
	switch {
	case e.Compaction != nil:
		return e.Compaction.FirstKeptEntryID
	case e.Branch != nil:
		return e.Branch.FromID
	case e.Edit != nil:
		return e.Edit.TargetID
	case e.Label != nil:
		return e.Label.TargetID
	}
	return ""
}

func decodeArguments(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	return decode(raw)
}
