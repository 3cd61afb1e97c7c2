package cmd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// faultRun is a fault of the endpoint, met by a whole run.
type faultRun struct {
	name     string // the number in the list of faults, and what happens
	answers  []answer
	model    string // added to the model of the task
	status   string // "" is ok
	code     int
	reason   string   // a part of it
	requests int      // HTTP requests that must come
	ran      []string // arguments of each execution, in order of their call
	result   string   // a part of one of the results
	text     string   // of the last answer, if it matters
}

// impatient is a model that gives up soon.
const impatient = "  timeouts: { first_token: 80ms, idle: 80ms }\n"

// call1 and the others are the calls that most faults are about.
const (
	call1   = `{"index":0,"id":"a","type":"function","function":{"name":"work","arguments":"{\"p\":1}"}}`
	half1   = `{"index":0,"id":"a","type":"function","function":{"name":"work","arguments":"{\"p\":\"a"}}`
	call2   = `{"index":1,"id":"b","type":"function","function":{"name":"work","arguments":"{\"p\":2}"}}`
	failure = `{"error":{"message":"boom","code":%s}}`
)

// The arguments of call1 and call2 as the tool gets them.
var one, both = []string{`{"p":1}`}, []string{`{"p":1}`, `{"p":2}`}

func callsOf(deltas ...string) answer {
	return stream(append(deltas, finished("tool_calls"), doneFrame)...)
}

// streamFaults are the numbers 1 to 19: how an answer is put together.
func streamFaults() []faultRun {
	done := says("done")
	fragment := func(n int, id, name, args string) string {
		return fmt.Sprintf(`{"index":%d,"id":%q,"function":{"name":%q,"arguments":%s}}`, n, id, name, quoted(args))
	}
	var characters []string
	for i, c := range `{"p":1}` {
		characters = append(characters, callDelta(fragment(0, fmt.Sprint("x", i), "", string(c))))
	}
	split := "d\xc3|\xa9|"
	return []faultRun{
		{name: "01 index missing", answers: []answer{callsOf(
			callDelta(`{"id":"a","function":{"name":"work","arguments":"{\"p\":"}}`), callDelta(`{"function":{"arguments":"1}"}}`),
			callDelta(`{"id":"b","function":{"name":"work","arguments":"{\"p\":2}"}}`)), done}, requests: 2, ran: both},
		{name: "02 index zero for all", answers: []answer{callsOf(callDelta(call1), callDelta(strings.Replace(call2, `"index":1`, `"index":0`, 1))), done}, requests: 2, ran: both},
		{name: "03 new id on every fragment", answers: []answer{callsOf(append([]string{callDelta(fragment(0, "a", "work", ""))}, characters...)...), done}, requests: 2, ran: one},
		{name: "04 index jumps", answers: []answer{callsOf(callDelta(strings.Replace(call1, `"index":0`, `"index":7`, 1)), callDelta(strings.Replace(call2, `"index":1`, `"index":3`, 1))), done}, requests: 2, ran: both},
		{name: "05 arguments on another index", answers: []answer{callsOf(callDelta(fragment(0, "a", "work", "")), callDelta(`{"index":1,"function":{"arguments":"{\"p\":1}"}}`)), done}, requests: 2, ran: one},
		{name: "06 id null later", answers: []answer{callsOf(callDelta(fragment(0, "a", "work", `{"p":`)), callDelta(`{"index":0,"id":null,"function":{"arguments":"1}"}}`)), done}, requests: 2, ran: one},
		{name: "07 name repeated", answers: []answer{callsOf(callDelta(fragment(0, "a", "work", `{"p":`)), callDelta(fragment(0, "a", "work", `1}`))), done}, requests: 2, ran: one},
		{name: "07 name split", answers: []answer{callsOf(callDelta(fragment(0, "a", "wo", ``)), callDelta(fragment(0, "a", "rk", `{"p":1}`))), done}, requests: 2, ran: one},
		{name: "08 two objects under one call", answers: []answer{callsOf(callDelta(call1), callDelta(`{"index":0,"function":{"arguments":"{\"p\":2}"}}`)), done}, requests: 2, result: "two argument texts"},
		{name: "09 duplicate index in one chunk", answers: []answer{callsOf(callDelta(call1, strings.Replace(call2, `"index":1`, `"index":0`, 1))), done}, requests: 2, ran: both},
		{name: "10 interleaved", answers: []answer{callsOf(
			callDelta(fragment(0, "a", "work", `{"p"`)), callDelta(fragment(1, "b", "work", `{"p"`)),
			callDelta(`{"index":0,"function":{"arguments":":1}"}}`), callDelta(`{"index":1,"function":{"arguments":":2}"}}`)), done}, requests: 2, ran: both},
		{name: "11 one id on two indexes", answers: []answer{callsOf(callDelta(call1), callDelta(strings.Replace(call1, `"index":0`, `"index":1`, 1))), done}, requests: 2, ran: one},
		{name: "12 snapshots", answers: []answer{stream(textDelta("a"), textDelta("ab"), textDelta("abc"), finished("stop"), doneFrame)}, requests: 1, text: "aababc"},
		{name: "13 empty id", answers: []answer{callsOf(callDelta(fragment(0, "", "work", `{"p":1}`))), callsOf(callDelta(fragment(0, "", "work", `{"p":2}`))), done}, requests: 3, ran: both},
		{name: "13 the same id in each turn", answers: []answer{calls("call_0", "work", `{"p":1}`), calls("call_0", "work", `{"p":2}`), done}, requests: 3, ran: both},
		{name: "14 usage after the end", answers: []answer{stream(callDelta(call1), finished("tool_calls"), usageFrame(9, 3), doneFrame), done}, requests: 2, ran: one},
		{name: "14 all in one chunk", answers: []answer{stream(frame(`{"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[`+call1+`]},"finish_reason":"tool_calls"}]}`), doneFrame), done}, requests: 2, ran: one},
		{name: "15 empty contents", answers: []answer{callsOf(delta(`{"role":"assistant","content":null}`), delta(`{"content":""}`), callDelta(call1)), done}, requests: 2, ran: one},
		{name: "16 reasoning", answers: []answer{callsOf(delta(`{"reasoning":"hm"}`), delta(`{"reasoning_content":"so"}`), callDelta(call1)), done}, requests: 2, ran: one},
		{name: "17 call as text", answers: []answer{says(`<tool_call>{"name":"work","arguments":{"p":1}}</tool_call>`)}, requests: 1, text: `<tool_call>{"name":"work","arguments":{"p":1}}</tool_call>`},
		{name: "18 split code points", answers: []answer{stream(append(splitDeltas(split), finished("stop"), doneFrame)...)}, requests: 1, text: "dé"},
		{name: "19 long line", answers: []answer{stream(textDelta(strings.Repeat("x", 5<<20)), finished("stop"), doneFrame)}, requests: 1, text: strings.Repeat("x", 5<<20)},
	}
}

// splitDeltas are text deltas whose bytes are cut at the bars, in the middle
// of code points too.
func splitDeltas(text string) []string {
	var deltas []string
	for part := range strings.SplitSeq(text, "|") {
		deltas = append(deltas, delta(`{"content":"`+part+`"}`))
	}
	return deltas
}

// endFaults are the numbers 20 to 29: how an answer ends.
func endFaults() []faultRun {
	done := says("done")
	boom := fmt.Sprintf(failure, "502")
	return []faultRun{
		{name: "20 no end inside arguments", answers: []answer{stream(callDelta(half1))}, status: "error", code: 3, reason: "finish_reason", requests: 5},
		{name: "20 no end behind a whole call", answers: []answer{stream(callDelta(call1))}, status: "error", code: 3, reason: "finish_reason", requests: 5},
		{name: "20 then whole", answers: []answer{stream(callDelta(call1)), callsOf(callDelta(call1)), done}, requests: 3, ran: one},
		{name: "21 error inside 200", answers: []answer{stream(textDelta("a"), frame(`{"id":"x","choices":[],`+boom[1:]), doneFrame), done}, requests: 2},
		{name: "21 error inside 200 for good", answers: []answer{stream(textDelta("a"), frame(boom), doneFrame)}, status: "error", code: 3, reason: "boom", requests: 5},
		{name: "21 error of the caller", answers: []answer{stream(callDelta(call1), frame(fmt.Sprintf(failure, "400")))}, status: "error", code: 3, reason: "boom", requests: 1},
		{name: "22 empty body", answers: []answer{stream()}, status: "error", code: 3, reason: "no events", requests: 2},
		{name: "22 html", answers: []answer{refuse(200, "<html>log in</html>", "Content-Type", "text/html")}, status: "error", code: 3, reason: "<html>log in", requests: 2},
		{name: "23 length with calls", answers: []answer{stream(callDelta(call1), finished("length"), doneFrame), done}, requests: 2, result: "not executed"},
		{name: "24 masked truncation", answers: []answer{stream(callDelta(call1), finished("tool_calls"), usageFrame(10, 64), doneFrame), done}, requests: 2, result: "not executed"},
		{name: "25 stop with calls", answers: []answer{stream(callDelta(call1), finished("stop"), doneFrame), done}, requests: 2, ran: one},
		{name: "26 calls announced, none came", answers: []answer{stream(textDelta("so"), finished("tool_calls"), doneFrame)}, requests: 1},
		{name: "26 nothing announced as calls", answers: []answer{stream(delta(`{}`), finished("tool_calls"), doneFrame)}, status: "error", code: 3, reason: "empty", requests: 2},
		{name: "27 unknown reason", answers: []answer{stream(callDelta(call1), finished("weird"), doneFrame)}, status: "error", code: 3, reason: "weird", requests: 1},
		{name: "27 content filter", answers: []answer{stream(textDelta("a"), finished("content_filter"), doneFrame)}, status: "error", code: 3, reason: "content_filter", requests: 1},
		{name: "28 empty answer", answers: []answer{stream(finished("stop"), usageFrame(5, 0), doneFrame)}, status: "error", code: 3, reason: "the answer is empty", requests: 2},
		{name: "28 empty once", answers: []answer{stream(finished("stop"), doneFrame), done}, requests: 2},
		{name: "29 other model", answers: []answer{stream(frame(`{"id":"r9","model":"other","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`), doneFrame)}, requests: 1},
	}
}

// transportFaults are the numbers 30 to 38.
func transportFaults() []faultRun {
	done := says("done")
	late := func(value string) []answer {
		return []answer{refuse(429, `{"error":{"message":"slow down"}}`, "Retry-After", value), done}
	}
	return []faultRun{
		{name: "30 Retry-After in seconds", answers: late("2"), requests: 2},
		{name: "30 Retry-After of nonsense", answers: late("abc"), requests: 2},
		{name: "30 Retry-After of an hour", answers: late("3600"), requests: 2},
		{name: "30 Retry-After as a date", answers: late("Fri, 31 Dec 2100 23:59:59 GMT"), requests: 2},
		{name: "30 529 as text, 503", answers: []answer{refuse(529, "overloaded", "Content-Type", "text/plain"), refuse(503, "{}"), done}, requests: 3},
		{name: "31 a later request fails", answers: []answer{calls("a", "work", `{"p":1}`), refuse(500, "{}"), refuse(500, "{}"), done}, requests: 4, ran: one},
		{name: "31 a partial answer", answers: []answer{stream(textDelta("half")).then("reset"), done}, requests: 2, text: "done"},
		{name: "32 keep-alives alone", answers: []answer{stream(": ping\n\n").then("stall")}, model: impatient, status: "error", code: 3, reason: "first_token timeout", requests: 5},
		{name: "33 silence", answers: []answer{stream(textDelta("a")).then("stall")}, model: impatient, status: "error", code: 3, reason: "timeout) within", requests: 5},
		{name: "34 reset", answers: []answer{stream(callDelta(call1)).then("reset"), callsOf(callDelta(call1)), done}, requests: 3, ran: one},
		{name: "35 400", answers: []answer{refuse(400, `{"error":{"message":"messages.3: bad"}}`)}, status: "error", code: 3, reason: "messages.3: bad", requests: 1},
		{name: "35 401", answers: []answer{refuse(401, `{"error":{"message":"who are you"}}`)}, status: "error", code: 3, reason: "who are you", requests: 1},
		{name: "35 404", answers: []answer{refuse(404, "not here", "Content-Type", "text/plain")}, status: "error", code: 3, reason: "404", requests: 1},
		{name: "35 422 behind a call", answers: []answer{calls("a", "work", `{"p":1}`), refuse(422, `{"error":{"message":"no"}}`)}, status: "error", code: 3, reason: "422", requests: 2, ran: one},
		{name: "36 context too long", answers: []answer{calls("a", "work", `{"p":1}`), refuse(400, `{"error":{"code":"context_length_exceeded","message":"too long"}}`)}, status: "error", code: 3, reason: "too long", requests: 2, ran: one},
		{name: "38 parallel calls though forbidden", answers: []answer{callsOf(callDelta(call1, call2)), done}, requests: 2, ran: both},
	}
}

// Every fault that an endpoint can have, as a whole run of the command: the
// transcript verifies, the exit code tells what happened, and tools were
// executed exactly as often as they were called.
func TestEndpointFaultsInWholeRuns(t *testing.T) {
	for _, f := range slices.Concat(streamFaults(), endFaults(), transportFaults()) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, f.answers...)
			r := runTask(t, asked(e.URL, "  params: { max_tokens: 64, parallel_tool_calls: false }\n"+f.model, ""))
			f.check(t, e, &r)
		})
	}
}

func (f *faultRun) check(t *testing.T, e *endpoint, r *taskRun) {
	t.Helper()
	status := f.status
	if status == "" {
		status = "ok"
	}
	if r.status() != status || r.code != f.code || !strings.Contains(r.reason(), f.reason) {
		t.Errorf("%s, exit %d, %q; want %s, exit %d, %q\n%s", r.status(), r.code, r.reason(), status, f.code, f.reason, r.stderr)
	}
	if n := e.requests(); n != f.requests {
		t.Errorf("%d requests, want %d", n, f.requests)
	}
	ran, want := r.ran(t), slices.Clone(f.ran)
	slices.Sort(ran) // calls of one message run at once
	if !slices.Equal(ran, want) {
		t.Errorf("executed %q, want %q", ran, want)
	}
	if results := r.results(); f.result != "" && !strings.Contains(strings.Join(results, "\n"), f.result) {
		t.Errorf("results %q, want %q in one", results, f.result)
	}
	if text := r.text(); f.text != "" && text != f.text {
		t.Errorf("the answer is %.100q, want %.100q", text, f.text)
	}
	// Each request of a turn after its first is a retry that is shown.
	if turns := r.count("turn_start"); f.requests-turns > 0 && r.count("auto_retry_start") != f.requests-turns {
		t.Errorf("%d requests in %d turns, %d retries shown", f.requests, turns, r.count("auto_retry_start"))
	}
}
