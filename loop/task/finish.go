package task

import (
	"encoding/json"
	"math"
	"time"

	"gopkg.in/yaml.v3"
)

// Finish is when a task is finished besides by itself.
type Finish struct {
	Limits  Limits  `json:"limits,omitzero"`
	OnLimit string  `json:"on_limit"`         // stop (default) or wrap_up
	Output  *Output `json:"output,omitempty"` // nil: no answer is required
	Checks  []Check `json:"checks,omitempty"`
}

// Limits bound a task over all its runs; 0 is no bound.
type Limits struct {
	Turns        int           `json:"turns,omitempty"`
	ToolCalls    int           `json:"tool_calls,omitempty"`
	Tokens       int64         `json:"tokens,omitempty"`        // of requests and answers
	OutputTokens int64         `json:"output_tokens,omitempty"` // of answers
	CostUSD      float64       `json:"cost_usd,omitempty"`
	Wall         time.Duration `json:"wall,omitempty"`
	Idle         time.Duration `json:"idle,omitempty"`          // without token, tool output or end of a tool
	RepeatedCall int           `json:"repeated_call,omitempty"` // same tool, arguments and result in a row
}

// Output is the answer that the task must give.
type Output struct {
	Schema   json.RawMessage `json:"schema"`
	Via      string          `json:"via"`      // tool (default) or text
	Attempts int             `json:"attempts"` // default 3
	WriteTo  string          `json:"write_to,omitempty"`
}

// Check is a program that judges the work when the agent has settled.
type Check struct {
	Name    string        `json:"name"`
	Run     []string      `json:"run"`
	Timeout time.Duration `json:"timeout,omitempty"`
	OnFail  string        `json:"on_fail"` // continue sends the agent back, fail (default) ends the task
	Rounds  int           `json:"rounds"`  // how often it can be sent back; 0 with fail
}

// The values of Finish.OnLimit, Output.Via and Check.OnFail.
const (
	OnLimitStop    = "stop"
	OnLimitWrapUp  = "wrap_up"
	ViaTool        = "tool"
	ViaText        = "text"
	OnFailContinue = "continue"
	OnFailFail     = "fail"
)

func defaultFinish() Finish { return Finish{OnLimit: OnLimitStop} }

func finishTable() object[Finish] {
	return object[Finish]{
		name: "finish",
		keys: []key[Finish]{
			to("limits", limitsTable().value(Limits{}), func(f *Finish) *Limits { return &f.Limits }, "Bounds of the task; none is overshot."),
			to("on_limit", oneOf(OnLimitStop, OnLimitWrapUp), func(f *Finish) *string { return &f.OnLimit }, "What a limit does: stop (default), or wrap_up, one last turn without tools that counts."),
			to("output", pointer(outputTable().value(Output{Via: ViaTool, Attempts: 3})), func(f *Finish) **Output { return &f.Output }, "The answer that is required."),
			to("checks", list(checkTable().value(Check{})), func(f *Finish) *[]Check { return &f.Checks }, "Programs that judge the work; exit status 0 is good."),
		},
		check: checkFinish,
	}
}

func limitsTable() object[Limits] {
	const most = math.MaxInt32
	return object[Limits]{
		name: "limits",
		keys: []key[Limits]{
			to("turns", integer(1, most), func(l *Limits) *int { return &l.Turns }, "Requests."),
			to("tool_calls", integer(1, most), func(l *Limits) *int { return &l.ToolCalls }, "Tool calls that ran."),
			to("tokens", count(), func(l *Limits) *int64 { return &l.Tokens }, "Tokens of requests and answers."),
			to("output_tokens", count(), func(l *Limits) *int64 { return &l.OutputTokens }, "Tokens of answers."),
			to("cost_usd", positive(), func(l *Limits) *float64 { return &l.CostUSD }, "USD; needs the model's price."),
			to("wall", duration(), func(l *Limits) *time.Duration { return &l.Wall }, "Time from start to end."),
			to("idle", duration(), func(l *Limits) *time.Duration { return &l.Idle }, "Time without a token, tool output or the end of a tool."),
			to("repeated_call", integer(2, most), func(l *Limits) *int { return &l.RepeatedCall }, "Same tool, same arguments, same result this often in a row: status stuck."),
		},
	}
}

func outputTable() object[Output] {
	return object[Output]{
		name: "output",
		keys: []key[Output]{
			to("schema", schemaOrFile(), func(o *Output) *json.RawMessage { return &o.Schema }, "JSON Schema of the answer, or { file: path }.").must(),
			to("via", oneOf(ViaTool, ViaText), func(o *Output) *string { return &o.Via }, "How the answer is given: by a tool call (default; works with every endpoint) or as text."),
			to("attempts", integer(1, 100), func(o *Output) *int { return &o.Attempts }, "Answers that may fail the schema before the task ends with no_output; default 3."),
			to("write_to", filled(), func(o *Output) *string { return &o.WriteTo }, "File for the answer, relative to this file."),
		},
	}
}

func checkTable() object[Check] {
	return object[Check]{
		name: "a check",
		keys: []key[Check]{
			to("name", filled(), func(c *Check) *string { return &c.Name }, "What the check is called.").must(),
			to("run", nonEmpty(list(text())), func(c *Check) *[]string { return &c.Run }, "The program and its arguments; there is no shell.").must(),
			to("timeout", duration(), func(c *Check) *time.Duration { return &c.Timeout }, "How long it may take."),
			to("on_fail", oneOf(OnFailContinue, OnFailFail), func(c *Check) *string { return &c.OnFail }, "continue sends the agent back with the output, fail (default) ends the task."),
			to("rounds", integer(1, 100), func(c *Check) *int { return &c.Rounds }, "How often the agent is sent back; default 1."),
		},
		check: func(d *decoder, n *yaml.Node, c *Check) {
			switch {
			case c.OnFail == OnFailContinue:
				c.Rounds = max(c.Rounds, 1)
			case c.Rounds > 0:
				d.at(n, "", "rounds belong to on_fail: continue")
			default:
				c.OnFail = OnFailFail
			}
		},
	}
}

// checkFinish reports two checks with one name, and a cost limit that cannot
// hold since nobody knows what a token costs.
func checkFinish(d *decoder, n *yaml.Node, f *Finish) {
	seen := map[string]bool{}
	for _, c := range f.Checks {
		if seen[c.Name] {
			d.at(n, "", "two checks are called %s", quoted(c.Name))
		}
		seen[c.Name] = true
	}
	if f.Limits.CostUSD > 0 {
		d.needPrice(n, "the limit cost_usd")
	}
}

// needPrice reports a place that counts USD with a model that has no price. A
// scripted or recorded model is free.
func (d *decoder) needPrice(n *yaml.Node, what string) {
	d.later(func() {
		if m := d.used; m.Provider == OpenAI && m.Price == nil {
			d.at(n, "give the model a price: { input: …, output: … }", "%s needs a price of the model", what)
		}
	})
}
