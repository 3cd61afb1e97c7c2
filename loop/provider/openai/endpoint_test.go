package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// step is a piece of a scripted answer: bytes, then a pause, then an action.
type step struct {
	bytes  string
	delay  time.Duration
	action action
}

// action is what the server does after the bytes of a step.
type action string

const (
	goOn  action = ""
	reset action = "reset" // the connection breaks
	stall action = "stall" // the connection stays open, silently
)

// reply is what the server gives to one request.
type reply struct {
	status int               // 0 is 200
	header map[string]string // Content-Type is text/event-stream unless given
	steps  []step
}

// stream is an event stream of the given frames that ends cleanly.
func stream(frames ...string) reply {
	return reply{steps: []step{{bytes: strings.Join(frames, "")}}}
}

// then ends an answer with an action instead.
func (a reply) then(do action) reply {
	a.steps = append(a.steps, step{action: do})
	return a
}

func refuse(status int, body string, header ...string) reply {
	a := reply{status: status, header: map[string]string{"Content-Type": "application/json"}, steps: []step{{bytes: body}}}
	for i := 0; i+1 < len(header); i += 2 {
		a.header[header[i]] = header[i+1]
	}
	return a
}

// Frames of a stream, in the short forms of the fault list.
const done = "data: [DONE]\n\n"

func data(json string) string { return "data: " + json + "\n\n" }

func d(delta string) string {
	return data(`{"id":"r1","model":"m","choices":[{"index":0,"delta":` + delta + `}]}`)
}

func tc(calls ...string) string { return d(`{"tool_calls":[` + strings.Join(calls, ",") + `]}`) }

func content(s string) string {
	return d(`{"content":` + string(transcript.AppendString(nil, s)) + `}`)
}

func fin(reason string) string {
	return data(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
}

func usageFrame(prompt, completion int) string {
	return data(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, prompt, completion, prompt+completion))
}

// endpoint is a server that plays one reply per request, the last one for all
// further requests. It speaks over in-memory pipes, so that tests can run it
// on fake time.
type endpoint struct {
	t       testing.TB
	replies []reply

	mu       sync.Mutex
	bodies   []string
	headers  []http.Header
	times    []time.Time
	listener *pipeListener
	server   *http.Server
	client   *http.Transport
}

func serve(t testing.TB, replies ...reply) *endpoint {
	e := &endpoint{t: t, replies: replies, listener: &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}}
	e.server = &http.Server{Handler: e}
	e.client = &http.Transport{
		DialContext:        func(context.Context, string, string) (net.Conn, error) { return e.listener.dial() },
		DisableCompression: true,
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = e.server.Serve(e.listener)
	}()
	t.Cleanup(func() {
		e.client.CloseIdleConnections()
		_ = e.server.Close()
		<-served
	})
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if err := keepsContract(body); err != nil {
		e.t.Error(err)
	}
	e.mu.Lock()
	a := e.replies[min(len(e.bodies), len(e.replies)-1)]
	e.bodies = append(e.bodies, string(body))
	e.headers = append(e.headers, r.Header)
	e.times = append(e.times, time.Now())
	e.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	for _, s := range a.steps {
		_, _ = io.WriteString(w, s.bytes)
		if s.bytes != "" {
			w.(http.Flusher).Flush()
		}
		select {
		case <-time.After(s.delay):
		case <-r.Context().Done():
			return
		}
		switch s.action {
		case reset:
			panic(http.ErrAbortHandler)
		case stall:
			<-r.Context().Done()
			return
		}
	}
}

func (e *endpoint) requests() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.bodies)
}

func (e *endpoint) body(i int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bodies[i]
}

// pipeListener accepts in-memory connections.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

// result is what a request came to.
type result struct {
	message transcript.Message
	deltas  []loop.Delta
	retries []loop.Delta
	delays  []time.Duration // that the model slept
	err     error
}

// model makes a model of the endpoint that sleeps at once.
func (e *endpoint) model(t testing.TB, change func(*Config)) (*Model, *[]time.Duration) {
	t.Helper()
	delays := new([]time.Duration)
	var ids atomic.Int64
	c := Config{
		Model: "m",
		NewID: func() string { return fmt.Sprintf("own_%d", ids.Add(1)) },
		Config: wire.Config{
			BaseURL: "http://endpoint.test/v1", Transport: e.client,
			Sleep: func(ctx context.Context, d time.Duration) error {
				*delays = append(*delays, d)
				return ctx.Err()
			},
			Rand: func() float64 { return 0 },
		},
	}
	if change != nil {
		change(&c)
	}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m, delays
}

func (e *endpoint) ask(t testing.TB, change func(*Config)) result {
	t.Helper()
	m, delays := e.model(t, change)
	r := collect(m, t.Context(), prompt("go"))
	r.delays = *delays
	return r
}

func collect(m loop.Model, ctx context.Context, q replay.Request) result {
	var r result
	for d, err := range m.Stream(ctx, q) {
		if err != nil {
			r.err = err
			break
		}
		switch d.Kind {
		case loop.Done:
			r.message = *d.Final
		case loop.Retry:
			r.retries = append(r.retries, d)
		}
		r.deltas = append(r.deltas, d)
	}
	return r
}

// prompt is a request with one user message and two tools.
func prompt(text string) replay.Request {
	return replay.Request{
		Model:  replay.ModelRef{Provider: "openai", ID: "m"},
		System: "Be brief.",
		Tools: []transcript.Tool{
			{Name: "read", Description: "Read a file.", Parameters: json.RawMessage(`{"type":"object","properties":{"p":{}}}`)},
			{Name: "read_file", Description: "Read.", Parameters: json.RawMessage(`{"type":"object"}`)},
			{Name: "edit_existing_file", Description: "Edit.", Parameters: json.RawMessage(`{"type":"object"}`)},
		},
		Messages: []transcript.Message{transcript.UserText(text)},
	}
}

// call is what tests compare of a call.
type call struct{ ID, Name, Arguments, Error string }

func calls(m *transcript.Message) []call {
	var out []call
	for _, c := range m.Calls() {
		out = append(out, call{c.ID, c.Name, string(c.Arguments), c.ArgumentsError})
	}
	return out
}

// noted reports whether the message carries a diagnostic of the kind.
func noted(m *transcript.Message, kind string) bool {
	for _, f := range m.Extra {
		if f.Name == "diagnostics" && strings.Contains(string(f.Value), `"type":"`+kind+`"`) {
			return true
		}
	}
	return false
}

// count counts the deltas of a kind.
func (r *result) count(kind loop.DeltaKind) int {
	n := 0
	for _, d := range r.deltas {
		if d.Kind == kind {
			n++
		}
	}
	return n
}

// wantFailed fails the test unless the answer failed with these words and
// nothing of it could be executed.
func (r *result) wantFailed(t *testing.T, words string) {
	t.Helper()
	if r.err != nil {
		t.Fatalf("the model could not be asked: %v", r.err)
	}
	if r.message.StopReason != transcript.StopError || !strings.Contains(r.message.ErrorMessage, words) {
		t.Errorf("got stop reason %q with %q, want an error with %q", r.message.StopReason, r.message.ErrorMessage, words)
	}
	if n := r.count(loop.ToolCallEnd); n > 0 {
		t.Errorf("a failed answer finished %d calls", n)
	}
}

// wantCalls fails the test unless the answer succeeded with exactly these.
func (r *result) wantCalls(t *testing.T, want ...call) {
	t.Helper()
	if r.err != nil || r.message.Failed() {
		t.Fatalf("failed: %v %s", r.err, r.message.ErrorMessage)
	}
	got := calls(&r.message)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("calls\n got %q\nwant %q", got, want)
	}
	if r.count(loop.ToolCallStart) != len(got) || r.count(loop.ToolCallEnd) != len(got) {
		t.Errorf("%d starts and %d ends for %d calls", r.count(loop.ToolCallStart), r.count(loop.ToolCallEnd), len(got))
	}
}

func (r *result) wantStop(t *testing.T, reason, text string) {
	t.Helper()
	if r.err != nil || r.message.StopReason != reason || r.message.Text() != text {
		t.Errorf("got %q %q (%s, %v), want %q %q", r.message.StopReason, r.message.Text(), r.message.ErrorMessage, r.err, reason, text)
	}
}
