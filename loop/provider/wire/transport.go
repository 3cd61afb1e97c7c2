package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	maxAnswer    = 256 << 20 // of a whole body; an answer is a few MiB at most
	maxErrorBody = 64 << 10  // of a refusal; what is longer is a web page
	// drainAfterMark is how long the end of a finished body is waited for, so
	// that its connection can carry the next request.
	drainAfterMark = 100 * time.Millisecond
)

// NewTransport is the transport that a nil Config.Transport stands for: the
// connection is bounded by t.Connect, proxies are taken from the environment.
func NewTransport(t Timeouts) *http.Transport {
	connect := max(t.withDefaults().Connect, 0)
	dialer := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: connect,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        256,
		MaxIdleConnsPerHost: 64, // a batch talks to one host; the default of 2 would connect anew for most requests
		IdleConnTimeout:     90 * time.Second,
	}
}

// send posts q and gives the events of the answer. Everything but an event
// stream with a status below 300 is an error.
func (e *Endpoint) send(ctx context.Context, q *Request, key Secret, clock *clock) (*stream, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+e.path, q.Body())
	if err != nil {
		return nil, err
	}
	req.ContentLength = q.Size
	req.GetBody = func() (io.ReadCloser, error) { return q.Body(), nil }
	req.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {eventStream}, "Cache-Control": {"no-cache"}, "User-Agent": {"turnlog"},
	}
	q.authorize(req.Header, string(key))
	clock.start()
	resp, err := e.client.Do(req)
	clock.stop()
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // without the URL
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the connection was closed without an answer")
	}
	if err != nil {
		return nil, err
	}
	clock.answered()
	events, err := openEvents(resp, &clockedBody{body: resp.Body, clock: clock, tap: e.c.Tap})
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return &stream{events, resp.Body, clock}, nil
}

// openEvents makes sure that the answer is an event stream. Servers that name
// another content type are believed when the body looks like one.
func openEvents(resp *http.Response, body io.Reader) (*events, error) {
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		return nil, readStatusError(resp, body)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	buffered := bufio.NewReaderSize(body, 512)
	if kind == eventStream || looksLikeEvents(buffered) {
		return newEvents(buffered, maxLine), nil
	}
	head, err := io.ReadAll(io.LimitReader(buffered, maxErrorBody))
	if said := ReadError(head, ""); said != nil {
		return nil, said
	}
	if err != nil {
		return nil, err
	}
	return nil, noStream(kind, head)
}

// clockedBody is a response body that is only waited for as long as the clock
// allows.
type clockedBody struct {
	body  io.Reader
	clock *clock
	tap   func([]byte)
	read  int
}

func (b *clockedBody) Read(p []byte) (int, error) {
	if b.read > maxAnswer {
		return 0, tooLong(maxAnswer)
	}
	b.clock.start()
	n, err := b.body.Read(p)
	b.clock.stop()
	b.read += n
	if n > 0 && b.tap != nil {
		b.tap(p[:n])
	}
	return n, err
}

// stream is the events of an answer.
type stream struct {
	*events
	body  io.ReadCloser
	clock *clock
}

// close lets a stream with an end mark come to its end, which normally
// follows at once: net/http drops a connection whose body was not read out.
func (s *stream) close() {
	if s.marked {
		timer := time.AfterFunc(drainAfterMark, func() { s.clock.cancel(context.Canceled) })
		_, _ = io.Copy(io.Discard, io.LimitReader(s.body, maxErrorBody))
		timer.Stop()
	}
	_ = s.body.Close()
}

// statusError is an answer with a status that says no.
type statusError struct {
	status int
	header http.Header
	said   *Error // in the body; never nil
}

func readStatusError(resp *http.Response, body io.Reader) error {
	head, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	e := &statusError{status: resp.StatusCode, header: resp.Header, said: ReadError(head, "error")}
	if loc, err := resp.Location(); err == nil && e.status < 400 {
		e.said = &Error{Message: fmt.Sprintf("the redirect to %s://%s%s is not followed, set the base URL accordingly", loc.Scheme, loc.Host, loc.Path)}
	}
	return e
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("HTTP %d", e.status)
	if name := http.StatusText(e.status); name != "" {
		text += " " + name
	}
	if e.said.Message != "" {
		text += ": " + e.said.Error()
	}
	return text
}

func (e *statusError) Unwrap() error { return e.said }
