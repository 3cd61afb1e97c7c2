package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// judged is how a task ended, for tables.
type judged struct {
	status   policy.Status
	reason   string // a part of it
	requests int
	ran      string // what the tools did, in order of their names
}

// expectedRules find what the scripted models of these tests do on purpose.
var expectedRules = []string{"repeated-call", "no-progress-loop", "removed-tool-call"}

// playTask runs a task file with the tools of a world.
func playTask(t *testing.T, yaml string) (results.Result, *world, []transcript.Entry) {
	t.Helper()
	w := &world{ran: map[string]int{}}
	out := filepath.Join(t.TempDir(), "out")
	sum, c, err := play(t, t.Context(), Options{Files: parse(t, "p", yaml), Out: out, Tools: w.tools})
	if err != nil {
		t.Fatal(err)
	}
	rs := c.records(t)
	if last := rs[len(rs)-1]; last.Type != "batch_end" || last.Raw["exitCode"] != float64(sum.ExitCode) || sum.ExitCode != sum.Results[0].ExitCode {
		t.Errorf("batch_end %v, exit %d, task's %d", last.Raw, sum.ExitCode, sum.Results[0].ExitCode)
	}
	path := filepath.Join(out, "p.jsonl")
	for _, f := range findings(t, path) {
		if !slices.Contains(expectedRules, f.Rule) {
			t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
		}
	}
	return sum.Results[0], w, entries(t, path)
}

// The programs stand for the tools of a world, so that task files may name them.
const scriptedHead = "version: 1\nprompt: go\ntools: [read, bash, { name: look, description: a, run: [a] }, { name: send, description: a, run: [a] }]\n"

// endless is a model that always has another call to make.
func endless(call string) string {
	var b strings.Builder
	b.WriteString("model:\n  provider: scripted\n  responses:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "    - { text: turn %d, calls: [%s], usage: { input: 100, output: 10, totalTokens: 110 } }\n", i+1, strings.ReplaceAll(call, "N", fmt.Sprint(i)))
	}
	return b.String()
}

func TestPolicies(t *testing.T) {
	look := endless("{ name: look, arguments: { n: N } }")
	for _, test := range []struct {
		name, yaml string
		want       judged
	}{
		{
			"three turns are three requests", look + "finish: { limits: { turns: 3 } }\n",
			judged{policy.Limit, "turns: 3", 3, `look0 look1 look2`},
		},
		{
			"turns that are enough are no limit", "model: { provider: scripted, responses: [{ text: a, calls: [{ name: look, arguments: { n: 0 } }] }, { text: done }] }\nfinish: { limits: { turns: 2 } }\n",
			judged{policy.OK, "", 2, `look0`},
		},
		{
			"a follow-up has no room", "model: { provider: scripted, responses: [{ text: a }, { text: b }] }\nfollow_ups: [more]\nfinish: { limits: { turns: 1 } }\n",
			judged{policy.Limit, "turns: 1", 1, ``},
		},
		{
			"a second prompt has no room", "model: { provider: scripted, responses: [{ text: a }, { text: b }] }\nfinish: { limits: { turns: 1 } }\n",
			judged{policy.OK, "", 1, ``},
		},
		{
			"wrap up", look + "finish: { limits: { turns: 3 }, on_limit: wrap_up }\n",
			judged{policy.Limit, "turns: 3", 3, `look0 look1`},
		},
		{
			"tool calls", look + "finish: { limits: { tool_calls: 2 } }\n",
			judged{policy.Limit, "tool_calls: 2", 3, `look0 look1`},
		},
		{
			"tokens", look + "finish: { limits: { tokens: 4000 } }\n",
			judged{policy.Limit, "tokens: 4000", -1, "*"},
		},
		{
			"the same call again and again", endless("{ name: look, arguments: { n: 1 } }") + "finish: { limits: { repeated_call: 3 } }\n",
			judged{policy.Stuck, "look was called 3 times", 3, `look1 look1 look1`},
		},
		{
			"other arguments are not the same call", "model: { provider: scripted, responses: [{ calls: [{ name: look, arguments: { n: 1 } }] }, { calls: [{ name: look, arguments: { n: 2 } }] }, { calls: [{ name: look, arguments: { n: 1 } }] }, { text: done }] }\nfinish: { limits: { repeated_call: 2 } }\n",
			judged{policy.OK, "", 4, `look1 look1 look2`},
		},
		{
			"a denied call is answered", "model: { provider: scripted, responses: [{ calls: [{ name: send, arguments: { n: 1 } }] }, { text: done }] }\npermissions: { deny: [\"sen*\"] }\n",
			judged{policy.OK, "", 2, ``},
		},
		{
			"a denied call ends the task", "model: { provider: scripted, responses: [{ calls: [{ name: send, arguments: { n: 1 } }] }, { text: done }] }\npermissions: { deny: [\"sen*\"], on_deny: stop }\n",
			judged{policy.Denied, "the task denies sen*", 1, ``},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, w, es := playTask(t, scriptedHead+test.yaml)
			requests := strings.Count(strings.Join(kinds(es), " "), "turnlog.request")
			got := judged{res.Status, res.Reason, requests, ran(w)}
			if test.want.requests < 0 {
				got.requests = test.want.requests
			}
			if test.want.ran == "*" {
				got.ran = "*"
			}
			if !strings.Contains(got.reason, test.want.reason) || test.want.reason == "" && got.reason != "" {
				t.Errorf("reason %q, want %q in it", got.reason, test.want.reason)
			}
			got.reason = test.want.reason
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// ran lists what the tools did.
func ran(w *world) string {
	var all []string
	for name, n := range w.ran {
		for range n {
			all = append(all, strings.NewReplacer(`{"n":`, "", "}", "").Replace(name))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestWrapUpHasNoTools(t *testing.T) {
	_, _, es := playTask(t, scriptedHead+endless("{ name: look, arguments: { n: N } }")+"finish: { limits: { turns: 3 }, on_limit: wrap_up }\n")
	var last transcript.Request
	for i := range es {
		if es[i].Custom != nil && es[i].Custom.CustomType == transcript.CustomRequest {
			if err := es[i].Custom.Decode(&last); err != nil {
				t.Fatal(err)
			}
		}
	}
	if last.N != 3 || len(last.Tools) != 0 {
		t.Errorf("last request %+v", last)
	}
}

const sumSchema = "{ type: object, properties: { sum: { type: integer } }, required: [sum] }"

func TestRequiredOutput(t *testing.T) {
	for _, test := range []struct {
		name, responses, output string
		status                  policy.Status
		answer                  string
	}{
		{"by a tool", `[{ calls: [{ name: submit_answer, arguments: { sum: 3 } }] }]`, "", policy.OK, `{"sum":3}`},
		{"by a tool, reminded", `[{ text: it is 3 }, { calls: [{ name: submit_answer, arguments: { sum: 3 } }] }]`, "", policy.OK, `{"sum":3}`},
		{"by a tool, wrong first", `[{ calls: [{ name: submit_answer, arguments: { sum: three } }] }, { calls: [{ name: submit_answer, arguments: { sum: 3 } }] }]`, "", policy.OK, `{"sum":3}`},
		{"by a tool, never", `[{ text: a }, { text: b }, { text: c }, { text: d }]`, "", policy.NoOutput, "c"},
		{"by a tool, always wrong", `[{ calls: [{ name: submit_answer, arguments: {} }] }, { calls: [{ name: submit_answer, arguments: {} }] }, { calls: [{ name: submit_answer, arguments: {} }] }, { text: d }]`, "", policy.NoOutput, ""},
		{"as text", `[{ text: '{"sum": 3}' }]`, ", via: text", policy.OK, `{"sum": 3}`},
		{"as text in a fence", "[{ text: \"```json\\n{\\\"sum\\\": 3}\\n```\" }]", ", via: text", policy.OK, `{"sum": 3}`},
		{"as text, wrong first", `[{ text: three }, { text: '{"sum": "3"}' }, { text: '{"sum": 3}' }]`, ", via: text", policy.OK, `{"sum": 3}`},
		{"as text, never", `[{ text: one }, { text: two }, { text: three }, { text: '{"sum": 3}' }]`, ", via: text", policy.NoOutput, "three"},
		{"as text, one attempt", `[{ text: one }, { text: '{"sum": 3}' }]`, ", via: text, attempts: 1", policy.NoOutput, "one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, _, _ := playTask(t, scriptedHead+"model: { provider: scripted, responses: "+test.responses+" }\nfinish: { output: { schema: "+sumSchema+test.output+" } }\n")
			if res.Status != test.status || res.Answer != test.answer {
				t.Errorf("%s %q (%s), want %s %q", res.Status, res.Answer, res.Reason, test.status, test.answer)
			}
		})
	}
}

func TestOutputThatIsNoObjectIsWrapped(t *testing.T) {
	res, _, _ := playTask(t, scriptedHead+"model: { provider: scripted, responses: [{ calls: [{ name: submit_answer, arguments: { answer: [1, 2] } }] }] }\nfinish: { output: { schema: { type: array, items: { type: integer } } } }\nassert: [{ output: { path: \"$[1]\", equals: 2 } }]\n")
	if res.Status != policy.OK || res.Answer != "[1,2]" {
		t.Errorf("%s %q (%s)", res.Status, res.Answer, res.Reason)
	}
}

func TestChecksSendTheAgentBack(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "check")
	// Good from the second time on.
	text := "#!/bin/sh\nif [ -e " + dir + "/seen ]; then echo fine; else touch " + dir + "/seen; echo not yet; exit 1; fi\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	model := "model: { provider: scripted, responses: [{ text: first }, { text: second }] }\n"
	res, _, es := playTask(t, scriptedHead+model+"finish: { checks: [{ name: links, run: ["+script+"], on_fail: continue }] }\n")
	if res.Status != policy.OK || len(res.Assertions) != 1 || !res.Assertions[0].OK {
		t.Errorf("%s (%s), %+v", res.Status, res.Reason, res.Assertions)
	}
	if !strings.Contains(fmt.Sprint(userTexts(es)), "not yet") {
		t.Errorf("the agent heard %q", userTexts(es))
	}
	res, _, _ = playTask(t, scriptedHead+model+"finish: { checks: [{ name: never, run: [\"false\"] }] }\n")
	if res.Status != policy.Failed || res.ExitCode != 1 || !strings.Contains(res.Reason, "never") {
		t.Errorf("%s (%s)", res.Status, res.Reason)
	}
}

func userTexts(es []transcript.Entry) []string {
	var texts []string
	for i := range es {
		if m := es[i].Message; m != nil && m.Role == transcript.User {
			texts = append(texts, m.Text())
		}
	}
	return texts
}

func TestAssertions(t *testing.T) {
	const model = "model: { provider: scripted, responses: [{ calls: [{ name: look, arguments: { n: 1 } }, { name: send, arguments: { n: 2 } }] }, { text: The ANSWER is 3, usage: { input: 7, output: 5, totalTokens: 12 } }] }\nassert:\n  - "
	for assertion, ok := range map[string]bool{
		"status: ok":                                                 true,
		"status: limit":                                              false,
		"tool_used: { name: look }":                                  true,
		"tool_used: { name: look, min: 2 }":                          false,
		"tool_used: { name: look, max: 0 }":                          false,
		"not: { tool_used: { name: write } }":                        true,
		"tool_sequence: { steps: [look, send] }":                     true,
		"tool_sequence: { steps: [send, look] }":                     false,
		"tool_sequence: { mode: any_order, steps: [send, look] }":    true,
		"tool_sequence: { mode: exact, steps: [look] }":              false,
		"tool_sequence: { mode: subset, steps: [look, send, bash] }": true,
		"tool_sequence: { mode: superset, steps: [send] }":           true,
		"text: { contains: answer, ignore_case: true }":              true,
		"text: { contains: answer }":                                 false,
		"text: { matches: 'is [0-9]$' }":                             true,
		"usage: { metric: turns, max: 2 }":                           true,
		"usage: { metric: output_tokens, min: 6 }":                   false,
		"usage: { metric: tokens, max: 1, severity: warning }":       true, // it fails nothing
		"command: { run: [\"true\"] }":                               true,
		"command: { run: [\"false\"] }":                              false,
		"verify: { fail_on: warning }":                               true,
	} {
		t.Run(assertion, func(t *testing.T) {
			res, _, _ := playTask(t, scriptedHead+model+assertion+"\n")
			want := map[bool]policy.Status{true: policy.OK, false: policy.Failed}[ok]
			if res.Status != want || len(res.Assertions) != 1 {
				t.Errorf("%s (%s), %+v", res.Status, res.Reason, res.Assertions)
			}
			if !ok && !strings.Contains(res.Reason, "p.yaml:6:") {
				t.Errorf("reason %q has no place", res.Reason)
			}
		})
	}
}

func TestAssertedStatusIsAsGoodAsOK(t *testing.T) {
	res, _, _ := playTask(t, scriptedHead+endless("{ name: look, arguments: { n: N } }")+"finish: { limits: { turns: 2 } }\nassert: [{ status: limit }]\n")
	if res.Status != policy.OK || res.ExitCode != 0 {
		t.Errorf("%s (%s)", res.Status, res.Reason)
	}
}

// Clocks end a task in which a tool hangs.
func TestClocks(t *testing.T) {
	for limit, want := range map[string]string{"wall: 1m": "wall: 1m0s", "idle: 10s": "idle: 10s"} {
		t.Run(limit, func(t *testing.T) {
			files := parse(t, "p", scriptedHead+"model: { provider: scripted, responses: [{ calls: [{ name: hang }] }, { text: done }] }\nfinish: { limits: { "+limit+" } }\n")
			out := filepath.Join(t.TempDir(), "out")
			synctest.Test(t, func(t *testing.T) {
				sum, _, err := play(t, t.Context(), Options{Files: files, Out: out, Tools: hanging})
				if err != nil || sum.Results[0].Status != policy.Limit || sum.Results[0].Reason != want || sum.ExitCode != 4 {
					t.Errorf("%+v, %v", sum.Results, err)
				}
			})
			for _, f := range findings(t, filepath.Join(out, "p.jsonl")) {
				t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
			}
		})
	}
}

// endpointFunc answers requests to an endpoint that is nowhere.
type endpointFunc func(*http.Request) (*http.Response, error)

func (f endpointFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A request that may not go out yet is no silence of the agent; an endpoint
// that does not answer is one.
func TestIdleWaitsWithTheRequest(t *testing.T) {
	const says = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"fine\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	answer := func(status int, header http.Header, body string) *http.Response {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
	}
	stream := http.Header{"Content-Type": {"text/event-stream"}}
	fine := func(*http.Request) (*http.Response, error) { return answer(http.StatusOK, stream, says), nil }
	throttled := false
	for _, test := range []struct {
		name, model string
		endpoint    endpointFunc
		want        policy.Status
	}{
		{"rate", "rate: { requests_per_minute: 1 }", fine, policy.OK},
		{"Retry-After", "retry: { attempts: 2 }", func(r *http.Request) (*http.Response, error) {
			if !throttled {
				throttled = true
				return answer(http.StatusTooManyRequests, http.Header{"Retry-After": {"90"}}, `{"error":{"message":"slow down"}}`), nil
			}
			return fine(r)
		}, policy.OK},
		{"silence", "retry: { attempts: 1 }", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		}, policy.Limit},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := parse(t, "p", "version: 1\nmodel: { provider: openai, name: m, base_url: 'http://nowhere.invalid/v1', "+test.model+" }\nprompts: [a, b]\nfinish: { limits: { idle: 10s } }\n")
			out := filepath.Join(t.TempDir(), "out")
			synctest.Test(t, func(t *testing.T) {
				b := newBatch(Options{Files: files, Out: out})
				b.pool.Transport = test.endpoint
				if err := errors.Join(b.prepare(), b.open()); err != nil {
					t.Fatal(err)
				}
				sum, err := b.run(t.Context())
				if err != nil || sum.Results[0].Status != test.want {
					t.Errorf("%+v, %v; want %s", sum.Results, err, test.want)
				}
			})
		})
	}
}

func hanging(*task.Task, []task.Tool) ([]loop.Tool, error) {
	return []loop.Tool{{
		Tool: transcript.Tool{Name: "hang", Description: "hangs", Parameters: []byte(`{"type":"object"}`)},
		Run: func(ctx context.Context, _ transcript.Call, _ func(loop.Result)) (loop.Result, error) {
			select {
			case <-ctx.Done():
			case <-time.After(24 * time.Hour):
			}
			return loop.Result{}, context.Cause(ctx)
		},
	}}, nil
}
