package scripted

import (
	"context"
	"encoding/json"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// stream plays one response. Before every delta it looks at the context, as a
// real transport does when it reads the next bytes.
type stream struct {
	ctx      context.Context // of this one answer
	response Response
	partial  transcript.Message // what was streamed so far
	yield    func(loop.Delta) bool
}

// kinds are the deltas of a block.
type kinds struct{ start, delta, end loop.DeltaKind }

var (
	textKinds     = kinds{loop.TextStart, loop.TextDelta, loop.TextEnd}
	thinkingKinds = kinds{loop.ThinkingStart, loop.ThinkingDelta, loop.ThinkingEnd}
	callKinds     = kinds{loop.ToolCallStart, loop.ToolCallDelta, loop.ToolCallEnd}
)

func (s *stream) play() {
	if s.aborted() {
		return
	}
	if !s.response.NoStart && !s.yield(loop.Delta{Kind: loop.Start}) {
		return
	}
	for i := range s.response.Content {
		if !s.block(i, &s.response.Content[i]) {
			return
		}
	}
	if s.aborted() {
		return
	}
	final := s.partial
	final.StopReason, final.ErrorMessage = s.response.StopReason, s.response.ErrorMessage
	if final.StopReason == "" {
		final.StopReason = transcript.StopEnd
		if len(final.Calls()) > 0 {
			final.StopReason = transcript.StopToolUse
		}
	}
	// NoEnd shows nowhere: the loop takes the whole message from the last
	// delta, whether the endpoint sent an event for it or not.
	s.yield(loop.Delta{Kind: loop.Done, Final: &final})
}

// block streams one block; false ends the stream.
func (s *stream) block(i int, b *Block) bool {
	if s.aborted() {
		return false
	}
	k := textKinds
	switch b.Type {
	case transcript.BlockThinking:
		k = thinkingKinds
	case transcript.BlockToolCall:
		k = callKinds
	}
	empty := started(&b.Block)
	s.partial.Content = append(s.partial.Content, empty)
	first := empty
	if !s.yield(loop.Delta{Kind: k.start, Index: i, Call: first.Call, Block: &first}) {
		return false
	}
	for _, chunk := range b.chunks() {
		if s.aborted() {
			return false
		}
		if b.Call == nil {
			s.partial.Content[i].Text += chunk
		}
		if !s.yield(loop.Delta{Kind: k.delta, Index: i, Text: chunk}) {
			return false
		}
	}
	if s.aborted() {
		return false
	}
	whole := b.Block
	s.partial.Content[i] = whole
	return s.yield(loop.Delta{Kind: k.end, Index: i, Text: whole.Text, Call: whole.Call, Block: &whole})
}

// aborted ends the answer with what was streamed, if the context was cancelled.
func (s *stream) aborted() bool {
	if s.response.IgnoreAbort || s.ctx.Err() == nil {
		return false
	}
	final := s.partial
	final.StopReason, final.ErrorMessage = transcript.StopAborted, Aborted
	s.yield(loop.Delta{Kind: loop.Done, Final: &final})
	return true
}

// started is a block of which only the frame has arrived.
func started(b *transcript.Block) transcript.Block {
	empty := *b
	empty.Text = ""
	if b.Call != nil {
		call := *b.Call
		call.Arguments = json.RawMessage(`{}`)
		empty.Call = &call
	}
	return empty
}

func (b *Block) chunks() []string {
	if b.Chunks == nil && b.Call == nil && b.Text != "" {
		return []string{b.Text}
	}
	return b.Chunks
}
