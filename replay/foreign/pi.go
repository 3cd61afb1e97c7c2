package foreign

import (
	"bytes"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// pi is the session format of the pi coding agent, versions 1 to 3, and of
// programs that write the same.
func pi() Format {
	return Format{
		Name:      "pi",
		Title:     "a pi session",
		Knowledge: replay.Exact,
		Can:       Links | Headers | Seals, // a pi fork of one of our files carries its entries along
		Sniff:     func(h *Head) bool { return h.any(isSession) },
		Lines:     func() func(*transcript.Line) tree.Part { return new(tree.Session).Part },
	}
}

// turnlog is pi's format with what turnlog adds.
func turnlog() Format {
	f := pi()
	f.Name, f.Title = "turnlog", "a turnlog transcript"
	f.Sniff = func(h *Head) bool {
		return h.any(isSession) && (bytes.Contains(h.Bytes, []byte(`"customType":"turnlog.`)) ||
			h.any(func(o Object) bool { return o.is(transcript.TypeSession) && o.has("generator") }))
	}
	return f
}

// isSession recognises a session's header, and an entry of an excerpt without
// one. Other programs share the names of types but not those of the links.
func isSession(o Object) bool {
	switch {
	case o.has("uuid"), o.has("sessionId"), o.has("payload"):
		return false
	case o.is(transcript.TypeSession):
		return o.has("cwd") || o.has("version")
	case o.is(transcript.TypeMessage):
		return o.has("id", "parentId") || o.has("timestamp", "message")
	}
	return o.has("id", "parentId") && o.is(
		transcript.TypeModelChange, transcript.TypeThinking, transcript.TypeCompaction, transcript.TypeBranchSummary,
		transcript.TypeCustom, transcript.TypeCustomMessage, transcript.TypeContextEdit, transcript.TypeUsage,
		transcript.TypeLabel, transcript.TypeSessionInfo)
}
