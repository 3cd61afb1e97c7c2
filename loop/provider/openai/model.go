package openai

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/answer"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/request"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/sse"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// api is the name of this wire format in transcripts, as pi has it.
const api = "openai-completions"

// errAborted is in the words of pi's files.
const errAborted = "Request was aborted"

// Stream sends r, again if need be, and yields what comes back. A request that
// was not projected yet is. The last delta is Done; its message is complete, or
// has stop reason error or aborted and holds what the last attempt gave.
// A yielded error means that r could not be sent: wrong params, no key.
func (m *Model) Stream(ctx context.Context, r replay.Request) iter.Seq2[loop.Delta, error] {
	return func(yield func(loop.Delta, error) bool) {
		h := m.history.Take()
		defer m.history.Put(h) // not before the answer was judged by it
		q, err := request.New(r, m.defaults, h)
		if err != nil {
			yield(loop.Delta{}, fmt.Errorf("request: %w", err))
			return
		}
		m.exchange(ctx, q, h, yield)
	}
}

// exchange repeats q until there is an answer, or no point.
func (m *Model) exchange(ctx context.Context, q *request.Request, h *request.History, yield func(loop.Delta, error) bool) {
	plan := m.newRetries()
	for {
		t := attempt{model: m, request: q, history: h, yield: yield}
		t.run(ctx)
		switch {
		case t.left:
			return
		case t.unasked != nil:
			yield(loop.Delta{}, t.unasked)
			return
		case t.failure == nil:
			yield(loop.Delta{Kind: loop.Done, Final: &t.message}, nil)
			return
		case ctx.Err() != nil:
			t.end(transcript.StopAborted, errAborted)
			return
		}
		text := t.secret.Redact(t.failure.err.Error())
		delay, again := plan.next(t.failure)
		if !again {
			if plan.sent > 1 {
				text = fmt.Sprintf("%s (attempt %d)", text, plan.sent)
			}
			t.end(transcript.StopError, text)
			return
		}
		info := &loop.RetryInfo{Attempt: plan.sent - 1, MaxAttempts: plan.policy.Attempts - 1, DelayMs: delay.Milliseconds()}
		if !yield(loop.Delta{Kind: loop.Retry, Text: text, Retry: info}, nil) {
			return
		}
		if m.sleep(ctx, delay) != nil {
			t.end(transcript.StopAborted, errAborted)
			return
		}
	}
}

func (m *Model) sleep(ctx context.Context, d time.Duration) error {
	defer m.c.Hold()()
	return m.c.Sleep(ctx, d)
}

// attempt is one request on the wire.
type attempt struct {
	model   *Model
	request *request.Request
	history *request.History
	yield   func(loop.Delta, error) bool
	secret  answer.Secret

	message transcript.Message
	failure *failure
	unasked error // the request could not be sent at all
	left    bool  // the consumer wants no more
}

// end yields the message of an attempt that failed for good.
func (t *attempt) end(reason, text string) {
	t.message.StopReason, t.message.ErrorMessage = reason, text
	t.yield(loop.Delta{Kind: loop.Done, Final: &t.message}, nil)
}

// run makes the attempt and fills in its outcome.
func (t *attempt) run(ctx context.Context) {
	m := t.model
	began := m.c.Now().UnixMilli()
	t.message = transcript.Message{Role: transcript.Assistant, Usage: new(transcript.Usage)}
	defer func() {
		t.message.API, t.message.Provider, t.message.Model = api, t.request.Model.Provider, t.request.Model.ID
		t.message.Timestamp = began
	}()
	if ctx.Err() != nil {
		t.failure = &failure{err: context.Cause(ctx)}
		return
	}
	slot, err := m.turn(ctx)
	if err != nil {
		t.failure = &failure{err: err}
		return
	}
	defer func() {
		f := t.failure
		if f == nil {
			slot.release(!t.left && t.unasked == nil, false, 0)
			return
		}
		pause, _ := retryAfter(f.header, m.c.Now())
		slot.release(false, f.throttled, min(pause, m.c.Retry.RetryAfterMax))
	}()
	if t.unasked = t.authorize(ctx); t.unasked == nil {
		t.ask(ctx, began)
	}
}

// turn waits until a request may start.
func (m *Model) turn(ctx context.Context) (*slot, error) {
	defer m.c.Hold()()
	return m.c.Limiter.acquire(ctx)
}

// authorize gets the key.
func (t *attempt) authorize(ctx context.Context) error {
	c := &t.model.c
	if c.APIKey == nil {
		return nil
	}
	defer c.Hold()()
	key, err := c.APIKey(ctx)
	if err != nil {
		return err
	}
	if strings.ContainsFunc(key, unicode.IsControl) {
		return errors.New("API key: it holds a control character, as a line end")
	}
	t.secret = answer.Secret(key)
	return nil
}

// ask sends the request and reads the answer.
func (t *attempt) ask(parent context.Context, began int64) {
	m := t.model
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(context.Canceled)
	clock := newClock(m.c.Timeouts, cancel)
	config := goopenai.DefaultConfig(string(t.secret))
	config.BaseURL = m.c.BaseURL
	config.HTTPClient = &exchange{transport: m.c.Transport, request: t.request, clock: clock, tap: m.c.Tap}
	// The request that go-openai sees is empty: it would encode the whole
	// history, drop temperature 0 and empty contents, and refuse models by
	// name. The exchange sends the real one.
	stream, err := goopenai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, goopenai.ChatCompletionRequest{})
	if err != nil {
		t.failure = classify(cause(ctx, m.endpoint, err))
		return
	}
	defer func() { _ = stream.Close() }()
	a := answer.New(answer.Asked{
		Model: t.request.Model.ID, Tools: t.request.Tools, MaxTokens: t.request.MaxTokens, Secret: t.secret,
		CallKnown: t.history.HasCall, ResponseKnown: t.history.HasResponse, NewID: m.c.NewID, Cost: m.c.Price.cost,
	})
	broken := t.read(ctx, stream, a, clock)
	if t.left {
		return
	}
	message, deltas, err := a.Finish(broken, began)
	if err == nil && parent.Err() != nil {
		err = context.Cause(parent) // nobody waits for it any more
	}
	if t.message = message; err != nil {
		t.failure = classify(err)
		return
	}
	t.show(deltas)
}

// read feeds the stream to a and shows what it makes of it. The error is what
// ended the stream, nil for its regular end.
func (t *attempt) read(ctx context.Context, stream *goopenai.ChatCompletionStream, a *answer.Assembler, clock *clock) error {
	for {
		raw, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return cause(ctx, t.model.endpoint, err)
		}
		deltas, advanced, err := a.Add(raw)
		if advanced {
			clock.advanced()
		}
		if !t.show(deltas) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *attempt) show(deltas []loop.Delta) bool {
	for _, d := range deltas {
		if !t.yield(d, nil) {
			t.left = true
			return false
		}
	}
	return true
}

// cause gives the real reason of err: the clock that ran out, or the error that
// go-openai made of a frame.
func cause(ctx context.Context, endpoint string, err error) error {
	var timeout *timeoutError
	if errors.As(context.Cause(ctx), &timeout) {
		return fmt.Errorf("%s: %w", endpoint, timeout)
	}
	var frame *goopenai.APIError
	if errors.As(err, &frame) {
		e := &sse.Error{Message: frame.Message, Type: frame.Type}
		if frame.Code != nil {
			e.Code = fmt.Sprint(frame.Code)
		}
		if frame.Param != nil {
			e.Param = *frame.Param
		}
		return e
	}
	return fmt.Errorf("%s: %w", endpoint, err)
}

// newCallID makes an id that no other call has: 96 random bits.
func newCallID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return "call_" + hex.EncodeToString(b[:])
}
