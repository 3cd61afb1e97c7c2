package rule

import (
	"bytes"
	"encoding/json"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

func unfinishedMessage() verify.Rule {
	return verify.Rule{
		ID:       "unfinished-message",
		Group:    groupStops,
		Severity: verify.Error,
		Title:    "a stored assistant message has no final stop reason",
		Why: "The stream ended without a terminal event and the partial message was taken for an answer " +
			"(openclaw/openclaw#108989, vaadin/flow-components#9195).",
		Fix:   "Store a message when it is final; a stream that just ends is an error.",
		Quiet: "Formats that never store a reason, and deferred, which is one.",
		Since: "0.1.0",
		Bad: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"It"}],"stopReason":null}}
`,
		Good: `{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":[{"type":"text","text":"It is."}]}}
`,
		New: stateless(verify.Checker{Message: func(p *verify.Pass, m *transcript.Message) {
			if m.Role != transcript.Assistant {
				return
			}
			switch {
			case m.StopReason == transcript.StopPending:
				p.Report(p.Finding("the message was stored while it was pending"))
			case m.StopReason == "" && statesStopReason(p.Entry().Raw):
				p.Report(p.Finding("the stop reason is empty: the message never ended"))
			}
		}}),
	}
}

// statesStopReason reports whether the message of a record has a stop reason
// at all, be it empty or null.
func statesStopReason(raw json.RawMessage) bool {
	if !bytes.Contains(raw, []byte("stopReason")) && !bytes.Contains(raw, []byte(`\u00`)) {
		return false
	}
	var record struct {
		Message map[string]json.RawMessage `json:"message"`
	}
	if json.Unmarshal(raw, &record) != nil {
		return false
	}
	_, ok := record.Message["stopReason"]
	return ok
}
