package openai

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

// ran is what a whole run with the loop came to.
type ran struct {
	executed   []string // arguments of the executed calls
	events     []loop.Event
	outcome    loop.Outcome
	transcript []byte
}

// runLoop runs a task against the endpoint with a tool that counts.
func runLoop(t *testing.T, e *endpoint, change func(*Config)) ran {
	t.Helper()
	m, _ := e.model(t, change)
	var r ran
	header := transcript.Entry{Type: transcript.TypeSession, Header: &transcript.Header{
		Version: 3, ID: "s1", CWD: "/", Generator: &transcript.Generator{Name: "turnlog", Version: "test", Format: 1},
	}, Timestamp: "2026-01-02T03:04:05.000Z"}
	r.transcript = append(transcript.AppendEntry(r.transcript, &header), '\n')
	line := 1
	outcome, err := loop.Run(t.Context(), loop.Config{
		Model: m, ModelRef: replay.ModelRef{Provider: "openai", ID: "m"},
		Tools: []loop.Tool{{
			Tool: transcript.Tool{Name: "read", Description: "Read.", Parameters: []byte(`{"type":"object"}`)},
			Run: func(_ context.Context, c transcript.Call, _ func(loop.Result)) (loop.Result, error) {
				r.executed = append(r.executed, string(c.Arguments))
				return loop.Result{Content: []transcript.Block{transcript.TextBlock("done")}}, nil
			},
		}},
		Execution: loop.Sequential,
		Emit:      func(e loop.Event) error { r.events = append(r.events, e); return nil },
		Append: func(e *transcript.Entry) error {
			line++
			e.Line = line
			r.transcript = append(transcript.AppendEntry(r.transcript, e), '\n')
			return nil
		},
	}, new(replay.State), transcript.UserText("go"))
	if err != nil {
		t.Fatal(err)
	}
	r.outcome = outcome
	return r
}

// errors gives what verify holds against the transcript.
func (r *ran) errors(t *testing.T) []string {
	t.Helper()
	in := bytes.NewReader(r.transcript)
	result, err := verify.Run(t.Context(), verify.Source{Name: "run.jsonl", Reader: in, At: in}, rule.All(), verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range result.Findings {
		if f.Severity == verify.Error {
			out = append(out, f.Rule+": "+f.Message)
		}
	}
	return out
}

// Each fault inside a whole run: the tool runs exactly as often as it should,
// the run ends as it should, and verify has nothing against the transcript.
func TestFaultsInTheLoop(t *testing.T) {
	calling := stream(tc(wholeCall), fin("tool_calls"), usageFrame(9, 4), done)
	two := tc(wholeCall, `{"index":1,"id":"b","function":{"name":"read","arguments":"{}"}}`)
	for name, c := range map[string]struct {
		replies  []reply
		executed int
		turns    int
		reason   string
	}{
		"good":                    {[]reply{calling, good}, 1, 2, transcript.StopEnd},
		"08 two objects":          {[]reply{stream(tc(wholeCall), tc(`{"index":0,"function":{"arguments":"{}"}}`), fin("tool_calls"), done), good}, 0, 2, transcript.StopEnd},
		"11 same id twice":        {[]reply{stream(tc(wholeCall), strings.Replace(tc(wholeCall), `"index":0,"id"`, `"index":1,"id"`, 1), fin("tool_calls"), done), good}, 1, 2, transcript.StopEnd},
		"13 id of every turn":     {[]reply{calling, calling, good}, 2, 3, transcript.StopEnd},
		"17 call as text":         {[]reply{stream(content(`<tool_call>{"name":"read"}`), fin("stop"), done)}, 0, 1, transcript.StopEnd},
		"20 cut call":             {[]reply{stream(tc(halfCall))}, 0, 1, transcript.StopError},
		"20 cut after a call":     {[]reply{stream(tc(wholeCall))}, 0, 1, transcript.StopError},
		"21 error after a call":   {[]reply{stream(tc(wholeCall), data(`{"error":{"message":"m","code":400}}`))}, 0, 1, transcript.StopError},
		"23 length with a call":   {[]reply{stream(tc(wholeCall), fin("length"), done), good}, 0, 2, transcript.StopEnd},
		"24 masked truncation":    {[]reply{stream(tc(wholeCall), fin("tool_calls"), usageFrame(9, 64), done), good}, 0, 2, transcript.StopEnd},
		"25 stop with a call":     {[]reply{stream(tc(wholeCall), fin("stop"), done), good}, 1, 2, transcript.StopEnd},
		"26 no call":              {[]reply{stream(content("so"), fin("tool_calls"), done)}, 0, 1, transcript.StopEnd},
		"27 unknown with a call":  {[]reply{stream(tc(wholeCall), fin("weird"), done)}, 0, 1, transcript.StopError},
		"28 empty":                {[]reply{stream(fin("stop"), done)}, 0, 1, transcript.StopError},
		"31 500 after a tool":     {[]reply{calling, refuse(500, `{}`), refuse(500, `{}`), good}, 1, 2, transcript.StopEnd},
		"34 reset after a call":   {[]reply{stream(tc(wholeCall)).then(reset), calling, good}, 1, 2, transcript.StopEnd},
		"35 bad request":          {[]reply{refuse(400, `{"error":{"message":"m"}}`)}, 0, 1, transcript.StopError},
		"38 two calls":            {[]reply{stream(two, fin("tool_calls"), done), good}, 2, 2, transcript.StopEnd},
		"39 unknown tool":         {[]reply{stream(tc(`{"id":"a","function":{"name":"line_count","arguments":"{}"}}`), fin("tool_calls"), done), good}, 0, 2, transcript.StopEnd},
		"40 arguments no object":  {[]reply{stream(tc(`{"id":"a","function":{"name":"read","arguments":"[1]"}}`), fin("tool_calls"), done), good}, 0, 2, transcript.StopEnd},
		"41 large integer":        {[]reply{stream(tc(`{"id":"a","function":{"name":"read","arguments":"{\"n\":2512292042121000001}"}}`), fin("tool_calls"), done), good}, 1, 2, transcript.StopEnd},
		"42 half a surrogate":     {[]reply{stream(d(`{"content":"\ud99c"}`), tc(`{"id":"a","function":{"name":"read","arguments":"{\"n\":\"\\ud99c\"}"}}`), fin("tool_calls"), done), good}, 1, 2, transcript.StopEnd},
		"arguments with two keys": {[]reply{stream(tc(`{"id":"a","function":{"name":"read","arguments":"{\"n\":1,\"n\":2}"}}`), fin("tool_calls"), done), good}, 0, 2, transcript.StopEnd},
	} {
		t.Run(name, func(t *testing.T) {
			r := runLoop(t, serve(t, c.replies...), func(c *Config) { c.MaxTokens = 64 })
			if len(r.executed) != c.executed || r.outcome.Turns != c.turns || r.outcome.Reason != c.reason {
				t.Errorf("%d executions, %d turns, ended with %q (%v); want %d, %d, %q",
					len(r.executed), r.outcome.Turns, r.outcome.Reason, r.outcome.Err, c.executed, c.turns, c.reason)
			}
			if errs := r.errors(t); len(errs) > 0 {
				t.Errorf("verify: %q\n%s", errs, r.transcript)
			}
			if strings.Contains(name, "integer") && !bytes.Contains(r.transcript, []byte("2512292042121000001")) {
				t.Errorf("the integer is not in the transcript: %s", r.transcript)
			}
		})
	}
}

// A retry is visible, and the attempt that failed leaves no message.
func TestRetriesAreEvents(t *testing.T) {
	r := runLoop(t, serve(t, stream(content("half")).then(reset), refuse(429, `{}`, "Retry-After", "3"), good), nil)
	var got []loop.EventType
	var retries []loop.RetryEvent
	for _, e := range r.events {
		got = append(got, e.Type)
		if e.Retry != nil {
			retries = append(retries, *e.Retry)
		}
	}
	if n := len(slices.DeleteFunc(slices.Clone(got), func(e loop.EventType) bool { return e != loop.MessageStart })); n != 3 { // system, user, assistant
		t.Errorf("%d messages began: %v", n, got)
	}
	if len(retries) != 3 || retries[0].Attempt != 1 || retries[1].Attempt != 2 || retries[1].DelayMs != 3000 || !retries[2].Success {
		t.Errorf("retry events %+v", retries)
	}
}
