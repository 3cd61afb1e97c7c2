package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

var (
	// errCut is a stream that ended before its finish_reason: a cut connection
	// looks just like that, so the end of a stream is never success.
	errCut = &wire.Fault{Text: "the stream ended without a finish_reason", Kind: wire.Transient}

	// errNoEvents is a stream that held nothing at all.
	errNoEvents = &wire.Fault{Text: "no events: the stream ended before the first one", Kind: wire.Once}

	// errEmpty is an answer without text, thinking and calls.
	errEmpty = &wire.Fault{Text: "the answer is empty", Kind: wire.Once}
)

// Finish implements [wire.Answer].
func (a *Assembler) Finish(broken error, at int64) (transcript.Message, []loop.Delta, error) {
	m := a.message()
	err := a.judge(&m, broken)
	m.Extra = diagnostics(a.notes, at)
	if err != nil {
		return m, nil, err
	}
	return m, a.ends(&m), nil
}

// message gives what arrived, without a stop reason.
func (a *Assembler) message() transcript.Message {
	m := transcript.Message{
		Usage:      a.usage.usage(a.asked.Cost),
		ResponseID: a.id, RawStopReason: a.finishReason,
	}
	if a.id != "" && a.asked.ResponseKnown(a.id) {
		// Ollama draws its ids from 999 numbers. In a history, one id says that
		// it is one answer.
		a.note(NoteResponseID, "the endpoint gave this answer the id of an earlier one: "+a.id)
		m.ResponseID = ""
	}
	if a.model != a.asked.Model {
		m.ResponseModel = a.model
	}
	a.deltas = a.deltas[:0]
	ids := make(map[string]bool)
	for i, b := range a.blocks {
		out := transcript.Block{Type: b.kind, Signature: b.signature}
		if b.call != nil {
			out.Call = a.calls.finish(b.call, func(id string) string { return a.freshID(id, ids) })
			ids[out.Call.ID] = true
		} else {
			a.shown(i, b.arriving.Flush())
			out.Text = b.text.String()
		}
		m.Content = append(m.Content, out)
	}
	return m
}

// freshID gives id, or a new one if a call of the history or of this message
// has it: some servers count from call_0 in every answer.
func (a *Assembler) freshID(id string, ids map[string]bool) string {
	for id == "" || ids[id] || a.asked.CallKnown(id) {
		id = a.asked.NewID()
	}
	return id
}

func (a *Assembler) judge(m *transcript.Message, broken error) error {
	calls := len(m.Calls())
	switch {
	case broken != nil && (a.finishReason == "" || wire.Stated(broken)):
		return broken
	case a.finishReason == "" && !a.started:
		return a.noEvents()
	case a.finishReason == "":
		return errCut
	case broken != nil:
		a.note(NoteBroken, broken.Error())
	}
	reason, known := replay.StopReason(a.finishReason)
	if !known || reason == transcript.StopError {
		return finishFault(a.finishReason)
	}
	if len(m.Content) == 0 && reason != transcript.StopLength {
		return errEmpty
	}
	m.StopReason = a.stopReason(reason, calls)
	a.noteOddities(m, reason, calls)
	return nil
}

// noEvents says what there was instead.
func (a *Assembler) noEvents() error {
	i := slices.IndexFunc(a.notes, func(n note) bool { return n.kind == NoteFrame })
	if i < 0 {
		return errNoEvents
	}
	return fmt.Errorf("%w, but for %s", errNoEvents, a.notes[i].text)
}

// stopReason decides by the content: calls make it a tool turn, whatever the
// endpoint says, unless the limit has cut them.
func (a *Assembler) stopReason(reason string, calls int) string {
	switch {
	case reason == transcript.StopLength:
		return reason
	case calls == 0:
		return transcript.StopEnd
	case a.hitLimit():
		// vllm-project/vllm#58228: 25 of 3,600 answers that ran into the limit
		// were labelled tool_calls.
		a.note(NoteTruncated, fmt.Sprintf("finish_reason is %s, but the answer has all %d tokens it was allowed", a.finishReason, a.asked.MaxTokens))
		return transcript.StopLength
	}
	return transcript.StopToolUse
}

func (a *Assembler) hitLimit() bool {
	return a.asked.MaxTokens > 0 && a.usage != nil && tokens(a.usage.CompletionTokens) >= a.asked.MaxTokens
}

// finishFault is a finish_reason that is no success, in the words of pi's
// files. Two of them blame the endpoint.
func finishFault(reason string) *wire.Fault {
	f := &wire.Fault{Text: "Provider finish_reason: " + reason}
	if reason == "error" || reason == "network_error" {
		f.Kind = wire.Transient
	}
	return f
}

// callMarkers begin calls in the text of models whose server does not parse
// them.
var callMarkers = []string{"<tool_call", "<function=", "<function_call", "<|tool_call", "<tools_call", "[TOOL_CALLS]", "<invoke name="}

func (a *Assembler) noteOddities(m *transcript.Message, reason string, calls int) {
	if calls > 0 {
		return
	}
	text := m.Text()
	if reason == transcript.StopToolUse {
		a.note(NoteNoCalls, "finish_reason is "+a.finishReason+", but no call came")
	}
	if text == "" && len(m.Content) > 0 {
		a.note(NoteThinkingOnly, "the answer has thinking, but no text and no call")
	}
	if len(a.asked.Tools) == 0 {
		return
	}
	for _, mark := range callMarkers {
		if strings.Contains(text, mark) {
			a.note(NoteCallInText, "the text holds "+mark+", which looks like a call; it was not run")
			return
		}
	}
}

// ends gives the last deltas: what was held back, then the ends of all blocks.
func (a *Assembler) ends(m *transcript.Message) []loop.Delta {
	for i := range m.Content {
		b := &m.Content[i]
		_, _, end := loop.BlockKinds(b.Type)
		a.deltas = append(a.deltas, loop.Delta{Kind: end, Index: i, Text: b.Text, Block: b, Call: b.Call})
	}
	return a.deltas
}
