package cmd_test

import (
	"fmt"
	"strings"
	"testing"
)

// busy is an endpoint that always calls the tool again, each time with other
// arguments, and reports its usage as it likes.
func busy(t *testing.T, usage func(n int) string) *endpoint {
	t.Helper()
	e := serve(t)
	n := 0
	e.reply = func(string) answer {
		n++
		return stream(callDelta(fmt.Sprintf(`{"index":0,"id":"c%d","function":{"name":"work","arguments":"{\"p\":%d}"}}`, n, n)), finished("tool_calls"), usage(n), doneFrame)
	}
	return e
}

func honest(int) string { return usageFrame(100, 20) }

const priced = "  price: { input: 1000, output: 1000 }\n" // a token is a tenth of a cent

// Each limit ends a task that would go on for ever, under its own name.
func TestLimitsOfAnEndlessTask(t *testing.T) {
	for _, test := range []struct {
		limits, reason string
		requests       int // exactly; 0 is what fits
		ran            int // -1 is what fits
	}{
		{"turns: 3", "turns: 3", 3, 3},
		{"turns: 1", "turns: 1", 1, 1},
		{"tool_calls: 2", "tool_calls: 2", 3, 2},
		{"tokens: 3000", "tokens: 3000", 0, -1},
		{"output_tokens: 70", "an answer of 20 tokens, it was asked for at most 10", 4, 3},
		{"cost_usd: 3", "cost_usd: 3", 0, -1},
		{"wall: 1s", "wall: 1s", 0, -1},
	} {
		t.Run(test.limits, func(t *testing.T) {
			t.Parallel()
			e := busy(t, honest)
			r := runTask(t, asked(e.URL, priced, "finish: { limits: { "+test.limits+" } }\n"))
			if r.status() != "limit" || r.code != 4 || !strings.Contains(r.reason(), test.reason) {
				t.Errorf("%s (%s), exit %d", r.status(), r.reason(), r.code)
			}
			if test.requests > 0 && e.requests() != test.requests || e.requests() == 0 {
				t.Errorf("%d requests, want %d", e.requests(), test.requests)
			}
			if ran := len(r.ran(t)); test.ran >= 0 && ran != test.ran {
				t.Errorf("executed %d times, want %d", ran, test.ran)
			}
			usage, _ := r.end["usage"].(map[string]any)
			if test.limits == "tokens: 3000" && usage["totalTokens"].(float64) > 3000 || test.limits == "cost_usd: 3" && r.end["costUsd"].(float64) > 3 {
				t.Errorf("used %v, %v USD", usage, r.end["costUsd"])
			}
		})
	}
}

// What is left of the limits is the most that the endpoint is asked for.
func TestMaxTokensIsWhatIsLeft(t *testing.T) {
	e := busy(t, honest)
	r := runTask(t, asked(e.URL, "  params: { max_tokens: 1000 }\n", "finish: { limits: { output_tokens: 50, turns: 9 } }\n"))
	if r.status() != "limit" || e.requests() != 3 {
		t.Fatalf("%s (%s), %d requests", r.status(), r.reason(), e.requests())
	}
	for i, want := range []float64{50, 30, 10} {
		if got := e.body(t, i)["max_tokens"]; got != want {
			t.Errorf("request %d asks for at most %v tokens, want %v", i+1, got, want)
		}
		if n := strings.Count(e.bodies[i], "max_tokens"); n != 1 {
			t.Errorf("request %d says max_tokens %d times", i+1, n)
		}
	}
}

// An endpoint that reports more than a request can have had ends the task: its
// numbers are no base for a limit.
func TestReportAboveTheReservation(t *testing.T) {
	for name, usage := range map[string]string{
		"tokens":    usageFrame(1_000_000, 20),
		"answer":    usageFrame(10, 9_000_000_000_000_000_000),
		"beyond 64": frame(`{"choices":[],"usage":{"prompt_tokens":1e30,"completion_tokens":5}}`),
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t, stream(textDelta("fine"), finished("stop"), usage, doneFrame))
			r := runTask(t, openAITask(e.URL, "finish: { limits: { tokens: 5000 } }\n"))
			if r.status() != "limit" || r.code != 4 || e.requests() != 1 {
				t.Errorf("%s (%s), exit %d, %d requests", r.status(), r.reason(), r.code, e.requests())
			}
		})
	}
	e := busy(t, func(int) string {
		return frame(`{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":-7,"total_tokens":-12}}`)
	})
	r := runTask(t, openAITask(e.URL, "finish: { limits: { tokens: 3000, turns: 100 } }\n"))
	if r.status() != "limit" || e.requests() > 20 {
		t.Errorf("negative numbers: %s (%s), %d requests", r.status(), r.reason(), e.requests())
	}
}

// on_limit: wrap_up gives one last turn without tools. It counts, and there is
// no second one.
func TestWrapUpIsOneLastTurn(t *testing.T) {
	for _, limits := range []string{"turns: 4", "tool_calls: 2", "tokens: 6000", "output_tokens: 200", "cost_usd: 6"} {
		for name, obeys := range map[string]bool{"obeys": true, "goes on": false} {
			t.Run(limits+" "+name, func(t *testing.T) {
				t.Parallel()
				e := serve(t)
				n, without := 0, 0
				e.reply = func(body string) answer {
					n++
					if !strings.Contains(body, `"tools":`) {
						without++
						if obeys {
							return stream(textDelta("the answer"), finished("stop"), honest(0), doneFrame)
						}
					}
					return stream(callDelta(fmt.Sprintf(`{"index":0,"id":"c%d","function":{"name":"work","arguments":"{\"p\":%d}"}}`, n, n)), finished("tool_calls"), honest(0), doneFrame)
				}
				r := runTask(t, asked(e.URL, priced+"  params: { max_tokens: 40 }\n", "finish: { limits: { "+limits+" }, on_limit: wrap_up }\n"+
					"tool_changes: [{ when: { after_turn: 3 }, add: [read] }]\n"))
				if without != 1 {
					t.Errorf("%d of %d requests had no tools, want the last one", without, e.requests())
				}
				if strings.Contains(e.bodies[len(e.bodies)-1], `"tools":`) {
					t.Error("the last request has tools")
				}
				status, code := "limit", 4
				if obeys {
					status, code = "ok", 0
				}
				if r.status() != status || r.code != code || obeys && r.text() != "the answer" {
					t.Errorf("%s (%s), exit %d, %q", r.status(), r.reason(), r.code, r.text())
				}
			})
		}
	}
}

// A budget of the batch is shared: it is not passed, and tasks that find
// nothing left are named.
func TestBudgetOfABatch(t *testing.T) {
	e := serve(t, stream(textDelta("done"), finished("stop"), usageFrame(100, 20), doneFrame))
	r := runTask(t, asked(e.URL, priced+"  params: { max_tokens: 20 }\n",
		"matrix: { axes: { n: [1, 2, 3, 4, 5, 6, 7, 8] } }\nbatch: { budget: { cost_usd: 1 }, concurrency: 4 }\n"))
	last := r.events[len(r.events)-1]
	counts, _ := last["counts"].(map[string]any)
	if cost, _ := last["costUsd"].(float64); cost > 1 || cost < 0.3 {
		t.Errorf("cost %v of 1 USD", cost)
	}
	ok, _ := counts["ok"].(float64)
	limit, _ := counts["limit"].(float64)
	skipped, _ := counts["skipped"].(float64)
	if r.code != 4 || ok+limit+skipped != 8 || ok == 0 || limit+skipped == 0 || len(r.all("task_end")) != 8 {
		t.Errorf("exit %d, %v, %d task_end", r.code, counts, len(r.all("task_end")))
	}
}

// The required answer, and nothing else, decides: exit 6 when it never comes.
func TestRequiredAnswerNeverComes(t *testing.T) {
	const output = "finish: { output: { schema: { type: object, properties: { sum: { type: integer } }, required: [sum] }, attempts: 2 } }\n"
	e := serve(t, calls("a", "submit_answer", `{"sum":"x"}`), calls("b", "submit_answer", `{}`), says("no"))
	r := runTask(t, openAITask(e.URL, output))
	if r.status() != "no_output" || r.code != 6 || e.requests() != 2 || !strings.Contains(strings.Join(r.results(), " "), "sum") {
		t.Errorf("%s (%s), exit %d, %d requests, results %q", r.status(), r.reason(), r.code, e.requests(), r.results())
	}
	e = serve(t, calls("a", "submit_answer", `{"sum":"x"}`), calls("b", "submit_answer", `{"sum":3}`))
	r = runTask(t, openAITask(e.URL, output), "--answer", t.TempDir()+"/answer")
	if r.status() != "ok" || r.code != 0 || e.requests() != 2 {
		t.Errorf("%s (%s), exit %d, %d requests", r.status(), r.reason(), r.code, e.requests())
	}
}
