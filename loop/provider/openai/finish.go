package openai

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// errCut is a stream that ended before its finish_reason: a cut connection
// looks just like that, so the end of a stream is never success.
var errCut = errors.New("the stream ended without a finish_reason")

// errNoEvents is a stream that held nothing at all.
var errNoEvents = errors.New("no events: the stream ended before the first one")

// errEmpty is an answer without text, thinking and calls.
var errEmpty = errors.New("the answer is empty")

// finish judges the answer. broken is what ended the stream, nil for its
// regular end. The message is complete if the failure is nil; its block ends
// are the deltas then. Of a failed answer it holds what arrived.
func (a *assembler) finish(broken error, at int64) (transcript.Message, []loop.Delta, *failure) {
	m := a.message()
	fail := a.judge(&m, broken)
	m.Extra = diagnostics(a.notes, at)
	if fail != nil {
		return m, nil, fail
	}
	return m, a.ends(&m), nil
}

// message gives what arrived, without a stop reason.
func (a *assembler) message() transcript.Message {
	m := transcript.Message{
		Role: transcript.Assistant, Usage: a.usage.usage(a.price),
		ResponseID: a.id, RawStopReason: a.finishReason,
	}
	if a.id != "" && a.request.history != nil && a.request.history.hasResponse(a.id) {
		// Ollama draws its ids from 999 numbers. In a history, one id says that
		// it is one answer.
		a.note(noteResponseID, "the endpoint gave this answer the id of an earlier one: "+a.id)
		m.ResponseID = ""
	}
	if a.model != a.request.model.ID {
		m.ResponseModel = a.model
	}
	a.deltas = a.deltas[:0]
	ids := make(map[string]bool)
	for i, b := range a.blocks {
		out := transcript.Block{Type: b.kind, Signature: b.signature}
		switch {
		case b.call != nil:
			out.Call = a.calls.finish(b.call, func(id string) string { return a.freshID(id, ids) })
			ids[out.Call.ID] = true
		default:
			if held := b.end(); held != "" {
				kind := loop.TextDelta
				if b.kind == transcript.BlockThinking {
					kind = loop.ThinkingDelta
				}
				a.deltas = append(a.deltas, loop.Delta{Kind: kind, Index: i, Text: held})
			}
			out.Text = b.text.String()
		}
		m.Content = append(m.Content, out)
	}
	return m
}

// freshID gives id, or a new one if a call of the history or of this message
// has it: some servers count from call_0 in every answer.
func (a *assembler) freshID(id string, ids map[string]bool) string {
	for id == "" || ids[id] || a.request.history != nil && a.request.history.hasCall(id) {
		id = a.newID()
	}
	return id
}

func (a *assembler) judge(m *transcript.Message, broken error) *failure {
	calls := len(m.Calls())
	switch {
	case a.finishReason == "" && broken != nil:
		return classify(broken)
	case a.finishReason == "" && !a.started:
		return &failure{err: a.noEvents(), kind: once}
	case a.finishReason == "":
		return &failure{err: errCut, kind: transient}
	}
	if broken != nil {
		if f := classify(broken); f.stated {
			return f // an error is an error, whatever was said before
		}
		a.note(noteBroken, broken.Error())
	}
	reason, known := replay.StopReason(a.finishReason)
	if !known || reason == transcript.StopError {
		return finishFailure(a.finishReason)
	}
	if len(m.Content) == 0 && reason != transcript.StopLength {
		return &failure{err: errEmpty, kind: once}
	}
	m.StopReason = a.stopReason(reason, calls)
	a.noteOddities(m, reason, calls)
	return nil
}

// noEvents says what there was instead.
func (a *assembler) noEvents() error {
	for _, n := range a.notes {
		if n.kind == noteFrame {
			return fmt.Errorf("%w, but for %s", errNoEvents, n.text)
		}
	}
	return errNoEvents
}

// stopReason decides by the content: calls make it a tool turn, whatever the
// endpoint says, unless the limit has cut them.
func (a *assembler) stopReason(reason string, calls int) string {
	switch {
	case reason == transcript.StopLength:
		return reason
	case calls == 0:
		return transcript.StopEnd
	case a.hitLimit():
		// vllm-project/vllm#58228: 25 of 3,600 answers that ran into the limit
		// were labelled tool_calls.
		a.note(noteTruncated, fmt.Sprintf("finish_reason is %s, but the answer has all %d tokens it was allowed", a.finishReason, a.request.maxTokens))
		return transcript.StopLength
	}
	return transcript.StopToolUse
}

func (a *assembler) hitLimit() bool {
	return a.request.maxTokens > 0 && a.usage != nil && a.usage.CompletionTokens.tokens() >= a.request.maxTokens
}

// finishError is a finish_reason that is no success, in the words of pi's files.
type finishError string

func (e finishError) Error() string { return "Provider finish_reason: " + string(e) }

// finishFailure is the failure that a finish_reason states. Only the two that
// blame the endpoint can go away by asking again.
func finishFailure(reason string) *failure {
	f := &failure{err: finishError(reason)}
	if reason == "error" || reason == "network_error" {
		f.kind = transient
	}
	return f
}

// callMarkers begin calls in the text of models whose server does not parse
// them.
var callMarkers = []string{"<tool_call", "<function=", "<function_call", "<|tool_call", "<tools_call", "[TOOL_CALLS]", "<invoke name="}

func (a *assembler) noteOddities(m *transcript.Message, reason string, calls int) {
	if calls > 0 {
		return
	}
	text := m.Text()
	if reason == transcript.StopToolUse {
		a.note(noteNoCalls, "finish_reason is "+a.finishReason+", but no call came")
	}
	if text == "" && len(m.Content) > 0 {
		a.note(noteThinkingOnly, "the answer has thinking, but no text and no call")
	}
	if len(a.request.tools) == 0 {
		return
	}
	for _, mark := range callMarkers {
		if strings.Contains(text, mark) {
			a.note(noteCallInText, "the text holds "+mark+", which looks like a call; it was not run")
			return
		}
	}
}

// ends gives the last deltas: what was held back, then the ends of all blocks.
func (a *assembler) ends(m *transcript.Message) []loop.Delta {
	for i := range m.Content {
		b := &m.Content[i]
		d := loop.Delta{Index: i, Text: b.Text, Block: b, Call: b.Call}
		switch b.Type {
		case transcript.BlockText:
			d.Kind = loop.TextEnd
		case transcript.BlockThinking:
			d.Kind = loop.ThinkingEnd
		default:
			d.Kind = loop.ToolCallEnd
		}
		a.deltas = append(a.deltas, d)
	}
	return a.deltas
}
