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

func (s *stream) play() {
	if !s.response.NoStart && !s.send(loop.Delta{Kind: loop.Start}) {
		return
	}
	for i := range s.response.Content {
		if !s.block(i, &s.response.Content[i]) {
			return
		}
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
	s.send(loop.Delta{Kind: loop.Done, Final: &final})
}

// block streams one block; false ends the stream. What was shown of it is in
// the partial message before the next delta.
func (s *stream) block(i int, b *Block) bool {
	start, delta, end := loop.BlockKinds(b.Type)
	empty, whole := started(&b.Block), b.Block
	if !s.send(loop.Delta{Kind: start, Index: i, Call: empty.Call, Block: &empty}) {
		return false
	}
	s.partial.Content = append(s.partial.Content, empty)
	for _, chunk := range b.chunks() {
		if !s.send(loop.Delta{Kind: delta, Index: i, Text: chunk}) {
			return false
		}
		if b.Call == nil {
			s.partial.Content[i].Text += chunk
		}
	}
	if !s.send(loop.Delta{Kind: end, Index: i, Text: whole.Text, Call: whole.Call, Block: &whole}) {
		return false
	}
	s.partial.Content[i] = whole
	return true
}

// send yields d, unless the answer was aborted.
func (s *stream) send(d loop.Delta) bool { return !s.aborted() && s.yield(d) }

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
