package openai

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

	"github.com/turnlog/turnlog/loop/provider/openai/internal/request"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/sse"
)

const (
	maxAnswer    = 256 << 20 // of a whole body; an answer is a few MiB at most
	maxErrorBody = 64 << 10  // of a refusal; what is longer is a web page
	maxExcerpt   = 300       // bytes of a foreign body in an error
	maxWords     = 4 << 10   // bytes of a message that an endpoint worded
	// drainAfterDone is how long the end of a finished body is waited for, so
	// that its connection can carry the next request.
	drainAfterDone = 100 * time.Millisecond
)

// NewTransport is the transport that a nil Config.Transport stands for: the
// connection is bounded by t.Connect, proxies are taken from the environment.
func NewTransport(t Timeouts) *http.Transport {
	t = t.withDefaults()
	connect := max(t.Connect, 0)
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

// exchange is one request and its answer. It is the HTTPDoer of the go-openai
// client that is made for it: go-openai loses headers, takes any end of a body
// for success and any body for a stream, so all of that is settled here.
type exchange struct {
	transport http.RoundTripper
	request   *request.Request
	clock     *clock
	tap       func([]byte)
}

// Do sends the prepared body in place of the one go-openai made, and gives a
// body that go-openai reads rightly. Everything but an event stream with a
// status below 300 is an error: *statusError or *sse.ForeignError.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	req.Body, req.ContentLength = x.request.Body(), x.request.Size()
	req.GetBody = func() (io.ReadCloser, error) { return x.request.Body(), nil }
	req.Header.Set("User-Agent", "turnlog")
	// The answer to a redirected POST is not the answer to this request, and
	// following would hand the key to whoever is named.
	client := &http.Client{
		Transport:     x.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	x.clock.start()
	resp, err := client.Do(req)
	x.clock.stop()
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("the connection was closed without an answer")
		}
		return nil, err
	}
	x.clock.answered()
	body := &clockedBody{body: resp.Body, clock: x.clock, tap: x.tap}
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		return nil, readStatusError(resp, body)
	}
	stream, err := eventStream(resp, body)
	if err != nil {
		_ = body.Close()
		return nil, err
	}
	resp.Body = &streamBody{Reader: stream, body: body}
	return resp, nil
}

// eventStream makes sure that body is an event stream. Servers that name
// another content type are believed when the body looks like one.
func eventStream(resp *http.Response, body io.Reader) (*sse.Reader, error) {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == sse.ContentType {
		return sse.NewReader(body), nil
	}
	buffered := bufio.NewReaderSize(body, 512)
	if sse.Looks(buffered) {
		return sse.NewReader(buffered), nil
	}
	head, err := io.ReadAll(io.LimitReader(buffered, maxErrorBody))
	if e := sse.ReadError(head, ""); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	return nil, &sse.ForeignError{ContentType: kind, Excerpt: sse.Excerpt(head)}
}

// clockedBody is a response body that is only waited for as long as the clock
// allows.
type clockedBody struct {
	body  io.ReadCloser
	clock *clock
	tap   func([]byte)
	read  int
}

func (b *clockedBody) Read(p []byte) (int, error) {
	if b.read > maxAnswer {
		return 0, &sse.TooLongError{Limit: maxAnswer}
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

func (b *clockedBody) Close() error { return b.body.Close() }

// streamBody is the body that go-openai sees.
type streamBody struct {
	*sse.Reader
	body *clockedBody
}

// Close lets a stream that has said [DONE] come to its end, which normally
// follows at once: net/http drops a connection whose body was not read out.
func (b *streamBody) Close() error {
	if b.Done() {
		timer := time.AfterFunc(drainAfterDone, func() { b.body.clock.cancel(context.Canceled) })
		_, _ = io.Copy(io.Discard, io.LimitReader(b.body.body, maxErrorBody))
		timer.Stop()
	}
	return b.body.Close()
}

// statusError is an answer with a status that says no.
type statusError struct {
	status int
	header http.Header
	api    *sse.Error // what the body says; never nil
}

func readStatusError(resp *http.Response, body io.ReadCloser) error {
	defer func() { _ = body.Close() }()
	head, _ := io.ReadAll(io.LimitReader(body, maxErrorBody))
	e := &statusError{status: resp.StatusCode, header: resp.Header, api: sse.ReadError(head, "error")}
	if loc, err := resp.Location(); err == nil && e.status < 400 {
		e.api = &sse.Error{Message: fmt.Sprintf("the redirect to %s://%s%s is not followed, set the base URL accordingly", loc.Scheme, loc.Host, loc.Path)}
	}
	return e
}

func (e *statusError) Error() string {
	text := fmt.Sprintf("HTTP %d", e.status)
	if name := http.StatusText(e.status); name != "" {
		text += " " + name
	}
	if e.api.Message != "" {
		text += ": " + e.api.Error()
	}
	return text
}

func (e *statusError) Unwrap() error { return e.api }
