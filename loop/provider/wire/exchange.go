package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// errAborted is in the words of pi's files.
const errAborted = "Request was aborted"

// Request is one request in a format, encoded, and how its answer is read.
type Request struct {
	API   string // name of the format in messages
	Model replay.ModelRef
	Size  int64                // of the body
	Body  func() io.ReadCloser // reads it, from the start each time

	// Header adds the headers of the format and the key, "" if there is none.
	// Nil sends the key as bearer token.
	Header func(h http.Header, key string)

	// Answer begins the answer of an attempt. The secret must not get out.
	Answer func(Secret) Answer
}

// Answer makes one message out of the events of a stream.
type Answer interface {
	// Add takes an event and gives the deltas it makes, valid until the next
	// call. Advanced says that it brought some of the answer. After an error
	// nothing more of the stream counts.
	Add(Event) (deltas []loop.Delta, advanced bool, err error)

	// Finish judges the answer. Broken is what ended the stream, nil for its
	// regular end, at the time in diagnostics. Without an error the message is
	// complete, and the deltas are its last. With one, which is broken or a
	// [Fault], the message holds what arrived.
	Finish(broken error, at int64) (transcript.Message, []loop.Delta, error)
}

// Stream sends q until there is an answer, or no point, and yields what comes
// back. The last delta is Done; its message is complete, or has stop reason
// error or aborted and holds what the last attempt gave. A yielded error means
// that q could not be sent: no key.
func (e *Endpoint) Stream(ctx context.Context, q *Request, yield func(loop.Delta, error) bool) {
	plan := e.newRetries()
	for {
		t := attempt{endpoint: e, request: q, yield: yield, began: e.c.Now().UnixMilli()}
		t.run(ctx)
		switch {
		case t.left:
			return
		case t.unasked != nil:
			yield(loop.Delta{}, t.unasked)
			return
		case t.failure == nil:
			t.done()
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
		if e.sleep(ctx, delay) != nil {
			t.end(transcript.StopAborted, errAborted)
			return
		}
	}
}

func (e *Endpoint) sleep(ctx context.Context, d time.Duration) error {
	defer e.c.Hold()()
	return e.c.Sleep(ctx, d)
}

// attempt is one request on its way.
type attempt struct {
	endpoint *Endpoint
	request  *Request
	yield    func(loop.Delta, error) bool
	began    int64
	secret   Secret

	message transcript.Message
	failure *failure
	unasked error // the request could not be sent at all
	left    bool  // the consumer wants no more
}

// end ends an attempt that failed for good.
func (t *attempt) end(reason, text string) {
	t.message.StopReason, t.message.ErrorMessage = reason, text
	t.done()
}

// done yields the message.
func (t *attempt) done() {
	m := &t.message
	m.Role, m.API, m.Provider, m.Model = transcript.Assistant, t.request.API, t.request.Model.Provider, t.request.Model.ID
	m.Timestamp = t.began
	t.yield(loop.Delta{Kind: loop.Done, Final: m}, nil)
}

// run makes the attempt and fills in its outcome.
func (t *attempt) run(ctx context.Context) {
	e := t.endpoint
	t.message.Usage = new(transcript.Usage)
	slot, err := e.turn(ctx)
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
		pause, _ := retryAfter(f.header, e.c.Now())
		slot.release(false, f.throttled, min(pause, e.c.Retry.RetryAfterMax))
	}()
	if t.unasked = t.authorize(ctx); t.unasked == nil {
		t.ask(ctx)
	}
}

// turn waits until a request may start.
func (e *Endpoint) turn(ctx context.Context) (*slot, error) {
	defer e.c.Hold()()
	return e.c.Limiter.acquire(ctx)
}

// authorize gets the key.
func (t *attempt) authorize(ctx context.Context) error {
	c := &t.endpoint.c
	if c.APIKey == nil {
		return nil
	}
	defer c.Hold()()
	key, err := c.APIKey(ctx)
	if err == nil && strings.ContainsFunc(key, unicode.IsControl) {
		err = errors.New("API key: it holds a control character, as a line end")
	}
	t.secret = Secret(key)
	return err
}

// ask sends the request and reads the answer.
func (t *attempt) ask(parent context.Context) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(context.Canceled)
	a := t.request.Answer(t.secret)
	broken := t.read(ctx, a, newClock(t.endpoint.c.Timeouts, cancel))
	if t.left {
		return
	}
	message, deltas, err := a.Finish(broken, t.began)
	if err == nil && parent.Err() != nil {
		err = context.Cause(parent) // nobody waits for it any more
	}
	if t.message = message; err != nil {
		t.failure = classify(err)
		return
	}
	t.show(deltas)
}

// read feeds the answer to a and shows what it makes of it. The error is what
// ended the stream, nil for its regular end.
func (t *attempt) read(ctx context.Context, a Answer, clock *clock) error {
	stream, err := t.endpoint.send(ctx, t.request, t.secret, clock)
	if err != nil {
		return t.endpoint.cause(ctx, err)
	}
	defer stream.close()
	for {
		event, err := stream.Next()
		switch _, said := err.(*Error); {
		case err == io.EOF:
			return nil
		case said:
			return err
		case err != nil:
			return t.endpoint.cause(ctx, err)
		}
		deltas, advanced, err := a.Add(event)
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

// cause gives the real reason of err, which may be the clock that ran out, and
// its place.
func (e *Endpoint) cause(ctx context.Context, err error) error {
	if timeout, ok := errors.AsType[*timeoutError](context.Cause(ctx)); ok {
		err = timeout
	}
	return fmt.Errorf("%s: %w", e.base, err)
}

// authorize adds the headers of the format.
func (q *Request) authorize(h http.Header, key string) {
	switch {
	case q.Header != nil:
		q.Header(h, key)
	case key != "":
		h.Set("Authorization", "Bearer "+key)
	}
}
