package loop

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// errNoFinal is an answer that stopped without its final message: the end of
// a stream is not success.
var errNoFinal = errors.New("the model's stream ended without a final message")

// errNotAsked stands for the answer of a request that was not sent because the
// transcript or the reader of the events was lost.
const errNotAsked = "the request was not sent"

// answer sends req and makes what comes back part of the history. An error
// says that the model could not be asked; an answer that broke off keeps what
// had arrived, as a failed message.
func (r *run) answer(ctx context.Context, req replay.Request, rec *requestRecord) (*transcript.Message, error) {
	a := &r.streaming
	*a = partialAnswer{r: r, req: req, began: r.now().UnixMilli(), text: a.text[:0]}
	r.noteRequest(req, rec)
	var err error
	if !r.broken() {
		err = a.consume(ctx, rec)
	}
	if err != nil && !a.started && a.final == nil {
		return nil, err
	}
	m := a.message(ctx, err)
	a.settleRetries(m)
	r.commit(m, a.started)
	return m, nil
}

// partialAnswer is an answer while it streams. It is no part of the history.
type partialAnswer struct {
	r       *run
	req     replay.Request
	began   int64
	partial transcript.Message
	delta   Delta              // shown with the partial message
	text    []*strings.Builder // of each block; its strings share the builder's memory, so growing is linear
	started bool               // message_start was emitted
	final   *transcript.Message
	retry   RetryEvent // the attempt under way, if it is not the first
}

// consume pulls the answer. A panic of the model is its error.
func (a *partialAnswer) consume(ctx context.Context, rec *requestRecord) (err error) {
	defer catch(&err, "the model")
	a.r.c.Model.Stream(ctx, a.req)(func(d Delta, failure error) bool {
		if err = failure; err != nil {
			return false
		}
		switch d.Kind {
		case Start:
			a.start()
		case Done:
			a.final = d.Final
		case Retry:
			a.again(d, rec)
		default:
			a.delta = d
			a.apply()
		}
		return a.final == nil && !a.r.broken()
	})
	if err == nil && a.final == nil && !a.r.broken() {
		return errNoFinal
	}
	return err
}

func (a *partialAnswer) start() {
	a.reset()
	if a.started { // an attempt after one that broke off: the message is open already
		return
	}
	a.started = true
	a.r.emit(Event{Type: MessageStart, Message: &a.partial})
}

func (a *partialAnswer) reset() {
	a.text = a.text[:0]
	a.partial = transcript.Message{
		Role: transcript.Assistant, Provider: a.req.Model.Provider, Model: a.req.Model.ID,
		StopReason: transcript.StopPending, Usage: new(transcript.Usage), Timestamp: a.began,
	}
}

// apply folds the delta into the partial message and shows both. Without a
// start there is no partial message.
func (a *partialAnswer) apply() {
	d := &a.delta
	if !a.started || d.Index < 0 || d.Index > len(a.partial.Content) {
		return
	}
	if d.Index == len(a.partial.Content) {
		a.partial.Content = append(a.partial.Content, transcript.Block{})
		a.text = append(a.text, nil)
	}
	if d.Usage != nil {
		a.partial.Usage = d.Usage
	}
	b := &a.partial.Content[d.Index]
	switch d.Kind {
	case TextStart, ThinkingStart, ToolCallStart:
		*b, a.text[d.Index] = startedBlock(d), nil
	case TextDelta, ThinkingDelta:
		a.grow(d.Index, d.Text)
	case TextEnd, ThinkingEnd:
		b.Text = d.Text
		if d.Block != nil {
			*b = *d.Block
		}
	case ToolCallEnd:
		b.Call = d.Call
		if d.Block != nil {
			*b = *d.Block
		}
	}
	a.r.emit(Event{Type: MessageUpdate, Message: &a.partial, Delta: d})
}

// grow appends to the text of a block. Many blocks come as one delta, which
// needs no copy.
func (a *partialAnswer) grow(i int, text string) {
	b := &a.partial.Content[i]
	if b.Text == "" {
		b.Text = text
		return
	}
	if a.text[i] == nil {
		a.text[i] = new(strings.Builder)
		a.text[i].WriteString(b.Text)
	}
	a.text[i].WriteString(text)
	b.Text = a.text[i].String()
}

// startedBlock is a block of which nothing has arrived but its kind.
func startedBlock(d *Delta) transcript.Block {
	if d.Block != nil {
		return *d.Block
	}
	switch d.Kind {
	case TextStart:
		return transcript.Block{Type: transcript.BlockText}
	case ThinkingStart:
		return transcript.Block{Type: transcript.BlockThinking}
	}
	call := transcript.Call{}
	if d.Call != nil {
		call = *d.Call
	}
	call.Arguments = emptyObject
	return transcript.Block{Type: transcript.BlockToolCall, Call: &call}
}

// again records and shows that the request goes out once more.
func (a *partialAnswer) again(d Delta, rec *requestRecord) {
	info := RetryInfo{Attempt: a.retry.Attempt + 1}
	if d.Retry != nil {
		info = *d.Retry
	}
	a.retry = RetryEvent{RetryInfo: info, Error: d.Text}
	if a.started {
		a.reset()
	}
	a.r.noteRequest(a.req, rec)
	event := a.retry
	a.r.emit(Event{Type: AutoRetryStart, Retry: &event})
}

// settleRetries says how the retries of this answer ended.
func (a *partialAnswer) settleRetries(m *transcript.Message) {
	if a.retry.Attempt == 0 {
		return
	}
	end := RetryEvent{RetryInfo: a.retry.RetryInfo, Success: !m.Failed()}
	if !end.Success {
		end.Error = m.ErrorMessage
	}
	a.r.emit(Event{Type: AutoRetryEnd, Retry: &end})
}

// message gives the answer as it enters the history.
func (a *partialAnswer) message(ctx context.Context, err error) *transcript.Message {
	var m *transcript.Message
	switch {
	case a.final != nil:
		final := *a.final // the model may keep its own
		m = &final
	case err == nil: // the run is broken
		m = a.broken(transcript.StopAborted, errNotAsked)
	case ctx.Err() != nil:
		m = a.broken(transcript.StopAborted, err.Error())
	default:
		m = a.broken(transcript.StopError, err.Error())
	}
	m.Role = transcript.Assistant
	m.ThinkingLevel = a.req.Thinking
	if asked := a.req.Model; asked != (replay.ModelRef{}) {
		// The message says who was asked; who answered is another fact.
		if m.Model != asked.ID {
			m.ResponseModel = cmp.Or(m.ResponseModel, m.Model)
		}
		m.Provider, m.Model = asked.Provider, asked.ID
	}
	m.StopReason = cmp.Or(m.StopReason, transcript.StopEnd)
	m.Timestamp = cmp.Or(m.Timestamp, a.began)
	if m.Usage == nil {
		m.Usage = new(transcript.Usage)
	}
	return m
}

// broken is the message of an answer without an end: what had arrived.
func (a *partialAnswer) broken(reason, text string) *transcript.Message {
	if !a.started {
		a.reset()
	}
	m := a.partial
	m.StopReason, m.ErrorMessage = reason, text
	return &m
}
