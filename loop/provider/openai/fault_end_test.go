package openai

import (
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/provider/openai/internal/answer"
	"github.com/turnlog/turnlog/replay/transcript"
)

// The tests of this file play the faults of an answer's end, FAULTS 20 to 29.

// oneAttempt looks at a failure without retries.
func oneAttempt(c *Config) { c.Retry.Attempts = 1 }

const (
	wholeCall = `{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}}`
	halfCall  = `{"index":0,"id":"a","function":{"name":"read","arguments":"{\"path\":\"a"}}`
)

func TestFault20NoTerminalEvent(t *testing.T) {
	for name, a := range map[string]reply{
		"inside arguments": stream(tc(halfCall)),
		"whole call":       stream(tc(wholeCall)),
		"then DONE":        stream(tc(wholeCall), done),
		"text":             stream(content("a")),
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, a)
			r := e.ask(t, nil)
			r.wantFailed(t, "without a finish_reason")
			if e.requests() != 5 || len(r.retries) != 4 {
				t.Errorf("%d requests, %d retries shown", e.requests(), len(r.retries))
			}
		})
	}
}

func TestFault21ErrorInside200(t *testing.T) {
	for name, frame := range map[string]string{
		"plain":           data(`{"error":{"message":"boom","code":502}}`),
		"with a space":    data(`{ "error":{"message":"boom","code":502}}`),
		"not first":       data(`{"id":"x","choices":[],"error":{"code":502,"message":"boom"}}`) + done,
		"after a comment": ": ping\n\n" + data(`{"error":{"message":"boom","code":"502"}}`),
		"event: error":    "event: error\n" + data(`{"type":"error","error":{"type":"overloaded_error","message":"boom"}}`),
		"bare in event":   "event: error\n" + data(`{"message":"boom"}`),
		"text in event":   "event: error\ndata: boom\n\n",
		"type error":      data(`{"type":"error","message":"boom"}`),
		"object error":    data(`{"object":"error","message":"boom","code":502}`),
		"string":          data(`{"error":"boom"}`),
		"in the choice":   data(`{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":502,"message":"boom"}}]}`),
		"after finish":    fin("stop") + data(`{"error":{"message":"boom"}}`),
		"no blank line":   `data: {"error":{"message":"boom"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, stream(content("a"), frame), stream(content("b"), fin("stop"), done))
			r := e.ask(t, nil)
			r.wantStop(t, transcript.StopEnd, "b")
			if len(r.retries) != 1 || !strings.Contains(r.retries[0].Text, "boom") {
				t.Errorf("retries %+v", r.retries)
			}
		})
	}
}

func TestFault21ErrorOfTheCallerIsFinal(t *testing.T) {
	for _, e := range []string{
		`{"error":{"message":"boom","code":400}}`, `{"error":{"message":"boom","type":"invalid_request_error"}}`,
		`{"error":{"message":"boom","code":"insufficient_quota"}}`, `{"error":{"message":"boom: spend limit reached","code":429}}`,
	} {
		s := serve(t, stream(content("a"), data(e)))
		r := s.ask(t, nil)
		r.wantFailed(t, "boom")
		if s.requests() != 1 {
			t.Errorf("%s: %d requests", e, s.requests())
		}
	}
}

func TestFault21NullErrorIsNone(t *testing.T) {
	r := serve(t, stream(
		data(`{"error":null,"choices":[{"index":0,"delta":{"content":"a \"error\" b"}}]}`),
		data(`{"error":null,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`), done)).ask(t, nil)
	r.wantStop(t, transcript.StopEnd, `a "error" b`)
}

func TestFault22EmptyOrForeignBody(t *testing.T) {
	html := map[string]string{"Content-Type": "text/html; charset=utf-8"}
	for name, c := range map[string]struct {
		reply reply
		words string
	}{
		"empty stream":      {stream(), "no events"},
		"only comments":     {stream(": hi\n\n: there\n\n"), "no events"},
		"html":              {reply{header: html, steps: []step{{bytes: "<html>Please log in</html>"}}}, "text/html, not an event stream: <html>Please log in"},
		"empty html":        {reply{header: html, steps: []step{{}}}, "the answer is empty"},
		"json":              {refuse(200, `{"choices":[{"message":{"content":"a"}}]}`), "application/json, not an event stream"},
		"html as stream":    {stream("<html>\n<p>log in"), "what calls itself an event stream is none: <html> <p>log in"},
		"words as events":   {stream("data: Internal error\n\n"), "but for Internal error"},
		"only DONE":         {stream(done), "no events"},
		"only empty chunks": {stream(data(`{}`), data(`{"choices":[]}`), done), "no events"},
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, c.reply)
			r := e.ask(t, nil)
			r.wantFailed(t, c.words)
			if e.requests() != 2 {
				t.Errorf("%d requests, want one retry", e.requests())
			}
		})
	}
	for name, a := range map[string]reply{
		"json error":           refuse(200, `{"error":{"message":"boom","code":401}}`),
		"json error as stream": stream(`{"error":{"message":"boom","code":401}}`),
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, a)
			r := e.ask(t, nil)
			r.wantFailed(t, "boom")
			if e.requests() != 1 {
				t.Errorf("%d requests", e.requests())
			}
		})
	}
}

func TestFault22WordsBetweenEvents(t *testing.T) {
	r := serve(t, stream("data: ping\n\n", content("a"), "data: 17\n\n", fin("stop"), done)).ask(t, oneAttempt)
	r.wantStop(t, transcript.StopEnd, "a")
	if !noted(&r.message, answer.NoteFrame) {
		t.Error("no diagnostic")
	}
	e := serve(t, stream(content("a"), `data: {"choices":[{"delta":{"content":"b"}`+"\n\n", content("c"), fin("stop"), done))
	r = e.ask(t, oneAttempt)
	r.wantFailed(t, "malformed chunk")
}

func TestFault22StreamUnderAnotherName(t *testing.T) {
	for _, kind := range []string{"text/plain", "application/octet-stream", "application/json"} {
		r := serve(t, reply{header: map[string]string{"Content-Type": kind}, steps: []step{{bytes: ": hi\n\n" + content("a") + fin("stop")}}}).ask(t, oneAttempt)
		r.wantStop(t, transcript.StopEnd, "a")
	}
}

func TestFault23LengthWithCalls(t *testing.T) {
	r := serve(t, stream(tc(wholeCall), fin("length"), done)).ask(t, nil)
	r.wantCalls(t, readOne)
	if r.message.StopReason != transcript.StopLength || r.message.RawStopReason != "length" {
		t.Errorf("stop reason %q raw %q", r.message.StopReason, r.message.RawStopReason)
	}
	r = serve(t, stream(tc(halfCall), fin("length"), done)).ask(t, nil)
	if c := calls(&r.message)[0]; c.Arguments != "{}" || !strings.Contains(c.Error, `{"path":"a`) {
		t.Errorf("half a call: %+v", c)
	}
}

func TestFault24MaskedTruncation(t *testing.T) {
	for _, reason := range []string{"tool_calls", "stop"} {
		e := serve(t, stream(tc(wholeCall), fin(reason), usageFrame(10, 64), done))
		r := e.ask(t, func(c *Config) { c.MaxTokens = 64 })
		if r.message.StopReason != transcript.StopLength || r.message.RawStopReason != reason || !noted(&r.message, answer.NoteTruncated) {
			t.Errorf("stop reason %q raw %q", r.message.StopReason, r.message.RawStopReason)
		}
	}
	r := serve(t, stream(tc(wholeCall), fin("tool_calls"), usageFrame(10, 63), done)).ask(t, func(c *Config) { c.MaxTokens = 64 })
	if r.message.StopReason != transcript.StopToolUse {
		t.Errorf("below the limit: stop reason %q", r.message.StopReason)
	}
}

func TestFault25StopWithCalls(t *testing.T) {
	r := serve(t, stream(content("so"), tc(wholeCall), fin("stop"), done)).ask(t, nil)
	r.wantCalls(t, readOne)
	r.wantStop(t, transcript.StopToolUse, "so")
	if r.message.RawStopReason != "stop" {
		t.Errorf("raw %q", r.message.RawStopReason)
	}
}

func TestFault26ToolCallsWithoutCalls(t *testing.T) {
	e := serve(t, stream(content("so"), fin("tool_calls"), done))
	r := e.ask(t, nil)
	r.wantStop(t, transcript.StopEnd, "so")
	if !noted(&r.message, answer.NoteNoCalls) || e.requests() != 1 {
		t.Errorf("%d requests, notes %v", e.requests(), r.message.Extra)
	}
	e = serve(t, stream(d(`{}`), fin("tool_calls"), done))
	r = e.ask(t, nil)
	r.wantFailed(t, "the answer is empty")
	if e.requests() != 2 {
		t.Errorf("empty: %d requests", e.requests())
	}
}

func TestFault27FinishReasons(t *testing.T) {
	for reason, requests := range map[string]int{"weird": 1, "content_filter": 1, "refusal": 1, "error": 5} {
		e := serve(t, stream(content("a"), fin(reason), done))
		r := e.ask(t, nil)
		r.wantFailed(t, "Provider finish_reason: "+reason)
		if r.message.RawStopReason != reason || r.message.Text() != "a" || e.requests() != requests {
			t.Errorf("%s: raw %q, text %q, %d requests", reason, r.message.RawStopReason, r.message.Text(), e.requests())
		}
	}
	null := data(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`)
	r := serve(t, stream(null, null, done)).ask(t, oneAttempt)
	r.wantFailed(t, "without a finish_reason")
	r = serve(t, stream(content("a"), data(`{"choices":[{"index":0,"delta":{},"finish_reason":{"a":1}}]}`), done)).ask(t, oneAttempt)
	r.wantFailed(t, "without a finish_reason")
}

func TestFault28EmptyAnswer(t *testing.T) {
	e := serve(t, stream(fin("stop"), usageFrame(5, 0), done))
	r := e.ask(t, nil)
	r.wantFailed(t, "the answer is empty")
	if e.requests() != 2 || len(r.retries) != 1 {
		t.Errorf("%d requests, %d retries shown", e.requests(), len(r.retries))
	}
	e = serve(t, stream(fin("stop"), done), stream(content("a"), fin("stop"), done))
	r = e.ask(t, nil)
	r.wantStop(t, transcript.StopEnd, "a")
	// All tokens went into thinking that was not sent: the limit, not silence.
	r = serve(t, stream(fin("length"), done)).ask(t, nil)
	r.wantStop(t, transcript.StopLength, "")
}

func TestFault29OtherModel(t *testing.T) {
	r := serve(t, stream(data(`{"id":"r9","model":"m-2026-01-01","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`), done)).ask(t, nil)
	r.wantStop(t, transcript.StopEnd, "a")
	m := r.message
	if m.Model != "m" || m.ResponseModel != "m-2026-01-01" || m.ResponseID != "r9" || m.Provider != "openai" || m.API != api {
		t.Errorf("model %q, response model %q, id %q, provider %q", m.Model, m.ResponseModel, m.ResponseID, m.Provider)
	}
	r = serve(t, stream(content("a"), fin("stop"), done)).ask(t, nil)
	if r.message.ResponseModel != "" {
		t.Error("response model is set though it is the one asked for")
	}
}
