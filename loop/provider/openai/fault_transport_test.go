package openai

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/answer"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/replay/transcript"
)

// The tests of this file play the faults of transport and retries, FAULTS 30
// to 38, and 67, the wrong endpoint.
//
// What cannot be provoked here, and why:
//
//	31  executions are counted in retry_test.go, where the loop runs tools
//	36  needs tool results capped by the tools and compaction, which is not built;
//	    the provider's part, that the refusal is final, is here
//	37  needs compaction, which is not built; the provider's part is here

var good = stream(content("ok"), fin("stop"), usageFrame(3, 1), done)

func TestFault30RetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	date := now.Add(7 * time.Second).Format(http.TimeFormat)
	for name, c := range map[string]struct {
		reply reply
		delay time.Duration
	}{
		"seconds":      {refuse(429, `{}`, "Retry-After", "2"), 2 * time.Second},
		"fraction":     {refuse(429, `{}`, "Retry-After", "0.5"), 500 * time.Millisecond},
		"milliseconds": {refuse(429, `{}`, "Retry-After-Ms", "250", "Retry-After", "9"), 250 * time.Millisecond},
		"date":         {refuse(503, `{}`, "Retry-After", date), 7 * time.Second},
		"past date":    {refuse(503, `{}`, "Retry-After", now.Add(-time.Hour).Format(http.TimeFormat)), 500 * time.Millisecond},
		"capped":       {refuse(429, `{}`, "Retry-After", "3600"), 2 * time.Minute},
		"huge":         {refuse(429, `{}`, "Retry-After", "1e300"), 2 * time.Minute},
		"no number":    {refuse(429, `{}`, "Retry-After", "abc"), 500 * time.Millisecond},
		"negative":     {refuse(429, `{}`, "Retry-After", "-5"), 500 * time.Millisecond},
		"529 text":     {refuse(529, `overloaded`, "Content-Type", "text/plain"), 500 * time.Millisecond},
		"500":          {refuse(500, `{"error":{"message":"boom"}}`), 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, c.reply, good).ask(t, func(cfg *Config) { cfg.Now = func() time.Time { return now } })
			r.wantStop(t, transcript.StopEnd, "ok")
			if !slices.Equal(r.delays, []time.Duration{c.delay}) {
				t.Errorf("slept %v, want %v", r.delays, c.delay)
			}
			if len(r.retries) != 1 || *r.retries[0].Retry != (loop.RetryInfo{Attempt: 1, MaxAttempts: 4, DelayMs: c.delay.Milliseconds()}) || r.retries[0].Text == "" {
				t.Errorf("shown as %+v", r.retries)
			}
		})
	}
}

func TestFault30BackoffAndLimits(t *testing.T) {
	e := serve(t, refuse(500, `{}`))
	r := e.ask(t, func(c *Config) { c.Retry = wire.RetryPolicy{Attempts: 6, Initial: time.Second, Max: 5 * time.Second} })
	r.wantFailed(t, "HTTP 500 Internal Server Error")
	half := 500 * time.Millisecond
	if want := []time.Duration{half, 2 * half, 4 * half, 5 * half, 5 * half}; !slices.Equal(r.delays, want) {
		t.Errorf("without jitter slept %v, want %v", r.delays, want)
	}
	r = serve(t, refuse(500, `{}`)).ask(t, func(c *Config) { c.Rand = func() float64 { return 1 }; c.Retry.Attempts = 2 })
	if want := []time.Duration{time.Second}; !slices.Equal(r.delays, want) {
		t.Errorf("with all jitter slept %v, want %v", r.delays, want)
	}
	e = serve(t, refuse(500, `{}`))
	r = e.ask(t, func(c *Config) { c.Retry.Total = time.Millisecond })
	if e.requests() != 1 {
		t.Errorf("a delay beyond the total gave %d requests", e.requests())
	}
}

func TestFault30SpendLimitIsFinal(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`,
		`{"error":{"message":"Project spend limit reached"}}`,
	} {
		e := serve(t, refuse(429, body))
		r := e.ask(t, nil)
		r.wantFailed(t, "HTTP 429")
		if e.requests() != 1 {
			t.Errorf("%s: %d requests", body, e.requests())
		}
	}
}

func TestFault31PartialAnswerIsDiscarded(t *testing.T) {
	r := serve(t, stream(content("half"), tc(wholeCall)).then(reset), good).ask(t, nil)
	r.wantStop(t, transcript.StopEnd, "ok")
	if n := len(r.message.Calls()); n > 0 {
		t.Errorf("%d calls of the attempt that failed are in the answer", n)
	}
	var kinds []loop.DeltaKind
	for _, d := range r.deltas {
		kinds = append(kinds, d.Kind)
	}
	want := []loop.DeltaKind{
		loop.Start, loop.TextStart, loop.TextDelta, loop.ToolCallStart, loop.ToolCallDelta, loop.Retry,
		loop.Start, loop.TextStart, loop.TextDelta, loop.TextEnd, loop.Done,
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("deltas\n got %v\nwant %v", kinds, want)
	}
}

// onFakeTime runs a test of clocks in a bubble, where an hour takes no time.
func onFakeTime(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func timeouts(c *Config) {
	c.Timeouts = wire.Timeouts{FirstToken: 5 * time.Second, Idle: time.Second, Progress: 3 * time.Second, Request: 20 * time.Second}
	c.Retry.Attempts = 1
}

func TestFault32StallWithKeepAlives(t *testing.T) {
	pings := func(first string) reply {
		a := reply{steps: []step{{bytes: first}}}
		for range 1000 {
			a.steps = append(a.steps, step{bytes: ": ping\n\n", delay: 500 * time.Millisecond})
		}
		return a
	}
	onFakeTime(t, func(t *testing.T) {
		begin := time.Now()
		r := serve(t, pings(content("a"))).ask(t, timeouts)
		r.wantFailed(t, "progress timeout")
		if waited := time.Since(begin); waited != 3*time.Second || r.message.Text() != "a" {
			t.Errorf("waited %v, text %q", waited, r.message.Text())
		}
	})
	onFakeTime(t, func(t *testing.T) {
		begin := time.Now()
		r := serve(t, pings("")).ask(t, timeouts)
		r.wantFailed(t, "first_token timeout")
		if waited := time.Since(begin); waited != 5*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
	// 1,000 pings between two parts of an answer are no fault.
	onFakeTime(t, func(t *testing.T) {
		a := pings(content("a"))
		a.steps = append(a.steps, step{bytes: content("b") + fin("stop") + done})
		r := serve(t, a).ask(t, func(c *Config) { c.Timeouts = wire.Timeouts{Progress: -1, Request: -1} })
		r.wantStop(t, transcript.StopEnd, "ab")
	})
}

func TestFault33StallWithoutAByte(t *testing.T) {
	for _, c := range []struct {
		name   string
		reply  reply
		words  string
		waited time.Duration
	}{
		{"after a part", stream(content("a")).then(stall), "idle timeout", time.Second},
		{"before headers", reply{steps: []step{{action: stall}}}, "no answer (first_token timeout)", 5 * time.Second},
		{"after an error frame", stream(data(`{"error":{"message":"boom"}}`)).then(stall), "boom", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			onFakeTime(t, func(t *testing.T) {
				begin := time.Now()
				r := serve(t, c.reply).ask(t, timeouts)
				r.wantFailed(t, c.words)
				if waited := time.Since(begin); waited != c.waited {
					t.Errorf("waited %v, want %v", waited, c.waited)
				}
			})
		})
	}
}

func TestFault33AnswerThatNeverEnds(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		a := reply{}
		for range 1000 {
			a.steps = append(a.steps, step{bytes: content("a"), delay: 500 * time.Millisecond})
		}
		begin := time.Now()
		r := serve(t, a).ask(t, timeouts)
		r.wantFailed(t, "request timeout")
		if waited := time.Since(begin); waited != 20*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

// After a finish_reason the answer is there; that the server does not hang up
// is no reason to pay for it again.
func TestFault33StallAfterFinish(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		r := serve(t, stream(content("a"), fin("stop")).then(stall)).ask(t, timeouts)
		r.wantStop(t, transcript.StopEnd, "a")
		if !noted(&r.message, answer.NoteBroken) {
			t.Error("no diagnostic")
		}
	})
}

// A consumer that takes an hour for a delta does not make the endpoint slow.
func TestFault33SlowConsumerIsNoStall(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		m, _ := serve(t, stream(content("a"), content("b"), fin("stop"), done)).model(t, timeouts)
		var last loop.Delta
		for d, err := range m.Stream(t.Context(), prompt("go")) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
			last = d
		}
		if last.Kind != loop.Done || last.Final.Failed() {
			t.Errorf("last delta %+v", last)
		}
	})
}

func TestFault34ResetInMidStream(t *testing.T) {
	e := serve(t, stream(content("half")).then(reset), stream(content("ha")).then(reset), good)
	r := e.ask(t, nil)
	r.wantStop(t, transcript.StopEnd, "ok")
	if e.requests() != 3 || len(r.retries) != 2 {
		t.Errorf("%d requests, %d retries shown", e.requests(), len(r.retries))
	}
	r = serve(t, stream(content("half")).then(reset)).ask(t, oneAttempt)
	r.wantFailed(t, "unexpected EOF")
	if r.message.Text() != "half" {
		t.Errorf("the failed answer holds %q", r.message.Text())
	}
}

func TestFault35ClientErrorsAreFinal(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 408, 422} {
		e := serve(t, refuse(status, `{"error":{"message":"bad","param":"messages[3].content"}}`))
		r := e.ask(t, nil)
		r.wantFailed(t, "bad (at messages[3].content)")
		if e.requests() != 1 || len(r.retries) != 0 {
			t.Errorf("%d: %d requests", status, e.requests())
		}
	}
	for body, words := range map[string]string{
		`{"detail":"Not Found"}`: `HTTP 404 Not Found: {"detail":"Not Found"}`, `no such page`: "no such page", ``: "HTTP 404 Not Found",
		`{"error":"text only"}`: "text only", `{"message":["a","b"]}`: "a, b", `[{"error":{"message":"in a list","code":404}}]`: "in a list",
	} {
		r := serve(t, refuse(404, body)).ask(t, nil)
		r.wantFailed(t, words)
	}
}

func TestFault35RedirectIsNotFollowed(t *testing.T) {
	e := serve(t, refuse(301, ``, "Location", "https://user:pw@elsewhere.test/v1?token=x"))
	r := e.ask(t, nil)
	r.wantFailed(t, "the redirect to https://elsewhere.test/v1 is not followed")
	if e.requests() != 1 || strings.Contains(r.message.ErrorMessage, "pw") {
		t.Errorf("%d requests, %s", e.requests(), r.message.ErrorMessage)
	}
}

func TestFault36ContextTooLong(t *testing.T) {
	e := serve(t, refuse(400, `{"error":{"message":"maximum context length is 8192 tokens","code":"context_length_exceeded"}}`))
	r := e.ask(t, nil)
	r.wantFailed(t, "maximum context length is 8192 tokens [context_length_exceeded]")
	if e.requests() != 1 {
		t.Errorf("%d requests", e.requests())
	}
}

// A history with calls in it goes out with its calls even if no tool is left,
// and a server that refuses that is believed at once.
func TestFault37HistoryWithoutTools(t *testing.T) {
	e := serve(t, refuse(400, `{"error":{"message":"tools must be set"}}`))
	m, _ := e.model(t, nil)
	q := prompt("go")
	q.Tools = nil
	q.Messages = append(q.Messages,
		transcript.Message{Role: transcript.Assistant, Content: []transcript.Block{{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: "a", Name: "read"}}}},
		transcript.Message{Role: transcript.ToolResult, ToolCallID: "a"})
	r := collect(m, t.Context(), q)
	r.wantFailed(t, "tools must be set")
	if e.requests() != 1 || !strings.Contains(e.body(0), `"arguments":"{}"`) || !strings.Contains(e.body(0), `"content":""`) {
		t.Errorf("%d requests, body %s", e.requests(), e.body(0))
	}
}

func TestFault38ParallelCallsThoughForbidden(t *testing.T) {
	e := serve(t, stream(tc(wholeCall), tc(`{"index":1,"id":"b","function":{"name":"read","arguments":"{}"}}`), fin("tool_calls"), done))
	r := e.ask(t, func(c *Config) { c.Params = []byte(`{"parallel_tool_calls":false}`) })
	r.wantCalls(t, readOne, readTwo)
	if !strings.Contains(e.body(0), `"parallel_tool_calls":false`) {
		t.Errorf("body %s", e.body(0))
	}
}

// dialing is a transport whose connections come from dial.
func dialing(dial func() (net.Conn, error)) *http.Transport {
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return dial() }}
}

func TestFault67ClosedPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("no loopback:", err)
	}
	address := l.Addr().String()
	_ = l.Close()
	r := (&endpoint{}).ask(t, func(c *Config) { c.BaseURL, c.Transport = "http://"+address, nil })
	r.wantFailed(t, "connection refused")
	if len(r.delays) != 2 {
		t.Errorf("%d retries, want 2", len(r.delays))
	}
}

func TestFault67PortThatNeverAnswers(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		var servers []net.Conn
		silent := dialing(func() (net.Conn, error) {
			client, server := net.Pipe()
			servers = append(servers, server)
			go func() { _, _ = io.Copy(io.Discard, server) }()
			return client, nil
		})
		begin := time.Now()
		r := (&endpoint{}).ask(t, func(c *Config) { timeouts(c); c.Transport = silent })
		r.wantFailed(t, "no answer (first_token timeout)")
		if waited := time.Since(begin); waited != 5*time.Second {
			t.Errorf("waited %v", waited)
		}
		for _, s := range servers {
			_ = s.Close()
		}
	})
}

func TestFault67WrongProtocol(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, c := range map[string]struct{ url, words string }{
		"plain to TLS port":   {"http://" + secure.Listener.Addr().String(), "HTTPS"},
		"TLS to plain port":   {"https://" + plain.Listener.Addr().String(), "speaks plain HTTP, use http://"},
		"unknown certificate": {secure.URL, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			r := (&endpoint{}).ask(t, func(cfg *Config) { cfg.BaseURL, cfg.Transport = c.url, nil })
			r.wantFailed(t, c.words)
			if len(r.delays) != 0 {
				t.Error("retried")
			}
		})
	}
	alert := dialing(func() (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			_, _ = server.Read(make([]byte, 1))
			_, _ = server.Write([]byte("\x15\x03\x01\x00\x02\x02\x50"))
			_ = server.Close()
		}()
		return client, nil
	})
	r := (&endpoint{}).ask(t, func(c *Config) { c.Transport = alert })
	r.wantFailed(t, "speaks TLS, use https://")
}
