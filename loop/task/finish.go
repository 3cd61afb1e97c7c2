package task

import (
	"encoding/json"
	"math"
	"time"

	"github.com/turnlog/turnlog/loop/task/internal/table"
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

func (r *reader) finishKeys(k *table.Keys, f *Finish) {
	table.To(k, "limits", table.Mapping("limits", Limits{}, limitKeys), &f.Limits, "Bounds of the task; none is overshot.")
	table.To(k, "on_limit", table.OneOf(OnLimitStop, OnLimitWrapUp), &f.OnLimit, "What a limit does: stop (default), or wrap_up, one last turn without tools that counts.")
	table.To(k, "output", table.Optional(table.Mapping("output", Output{Via: ViaTool, Attempts: 3}, outputKeys)), &f.Output, "The answer that is required.")
	table.To(k, "checks", table.List(check()), &f.Checks, "Programs that judge the work; exit status 0 is good.")
}

func limitKeys(k *table.Keys, l *Limits) {
	const most = math.MaxInt32
	table.To(k, "turns", table.Integer(1, most), &l.Turns, "Requests.")
	table.To(k, "tool_calls", table.Integer(1, most), &l.ToolCalls, "Tool calls that ran.")
	table.To(k, "tokens", table.Count(), &l.Tokens, "Tokens of requests and answers.")
	table.To(k, "output_tokens", table.Count(), &l.OutputTokens, "Tokens of answers.")
	table.To(k, "cost_usd", table.Positive(), &l.CostUSD, "USD; needs the model's price.")
	table.To(k, "wall", table.Duration(), &l.Wall, "Time from start to end.")
	table.To(k, "idle", table.Duration(), &l.Idle, "Time without a token, tool output or the end of a tool.")
	table.To(k, "repeated_call", table.Integer(2, most), &l.RepeatedCall, "Same tool, same arguments, same result this often in a row: status stuck.")
}

func outputKeys(k *table.Keys, o *Output) {
	table.To(k, "schema", table.JSONSchema(), &o.Schema, "JSON Schema of the answer, or { file: path }.").Must()
	table.To(k, "via", table.OneOf(ViaTool, ViaText), &o.Via, "How the answer is given: by a tool call (default; works with every endpoint) or as text.")
	table.To(k, "attempts", table.Integer(1, 100), &o.Attempts, "Answers that may fail the schema before the task ends with no_output; default 3.")
	table.To(k, "write_to", table.Filled(), &o.WriteTo, "File for the answer, relative to this file.")
}

func check() table.Value[Check] {
	return table.Mapping("a check", Check{}, func(k *table.Keys, c *Check) {
		table.To(k, "name", table.Filled(), &c.Name, "What the check is called.").Must()
		table.To(k, "run", argv(), &c.Run, "The program and its arguments; there is no shell.").Must()
		table.To(k, "timeout", table.Duration(), &c.Timeout, "How long it may take.")
		table.To(k, "on_fail", table.OneOf(OnFailContinue, OnFailFail), &c.OnFail, "continue sends the agent back with the output, fail (default) ends the task.")
		table.To(k, "rounds", table.Integer(1, 100), &c.Rounds, "How often the agent is sent back; default 1.")
	}).Then(func(d *table.Decoder, n *table.Node, c *Check) {
		switch {
		case c.OnFail == OnFailContinue:
			c.Rounds = max(c.Rounds, 1)
		case c.Rounds > 0:
			d.At(n, "", "rounds belong to on_fail: continue")
		default:
			c.OnFail = OnFailFail
		}
	})
}

// checkFinish reports two checks with one name, and a cost limit that cannot
// hold since nobody knows what a token costs.
func (r *reader) checkFinish(_ *table.Decoder, n *table.Node, f *Finish) {
	seen := map[string]bool{}
	for _, c := range f.Checks {
		if seen[c.Name] {
			r.At(n, "", "two checks are called %s", table.Quote(c.Name))
		}
		seen[c.Name] = true
	}
	if f.Limits.CostUSD > 0 {
		r.needPrice(n, "the limit cost_usd")
	}
}

// needPrice reports a place that counts USD with a model that has no price. A
// scripted or recorded model is free.
func (r *reader) needPrice(n *table.Node, what string) {
	r.later(func() {
		if m := r.Model; m.Provider == OpenAI && m.Price == nil {
			r.At(n, "give the model a price: { input: …, output: … }", "%s needs a price of the model", what)
		}
	})
}
