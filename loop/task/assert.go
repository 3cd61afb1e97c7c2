package task

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// Assertion is one statement about a run that has ended. Exactly one of the
// fields from Status to Matches is set.
type Assertion struct {
	Status       string        `json:"status,omitempty"` // of the run, before assertions
	ToolUsed     *ToolUsed     `json:"tool_used,omitempty"`
	Not          *Assertion    `json:"not,omitempty"`
	ToolSequence *ToolSequence `json:"tool_sequence,omitempty"`
	ToolArgs     *ToolArgs     `json:"tool_args,omitempty"`
	Output       *OutputValue  `json:"output,omitempty"`
	Text         *TextMatch    `json:"text,omitempty"`
	Usage        *UsageBound   `json:"usage,omitempty"`
	Command      *Command      `json:"command,omitempty"`
	Verify       *Verify       `json:"verify,omitempty"`
	Matches      *Baseline     `json:"matches,omitempty"`

	Kind     string `json:"-"`        // the key that is set: "tool_used"
	Severity string `json:"severity"` // error (default), or warning: reported, no failure
	Place    Place  `json:"-"`
}

// ToolUsed bounds how often a tool was called.
type ToolUsed struct {
	Name string `json:"name"`
	Min  int    `json:"min"`           // default 1
	Max  *int   `json:"max,omitempty"` // nil is no bound
}

// ToolSequence compares the tools that were called with a list.
type ToolSequence struct {
	Mode  string `json:"mode"` // exact in_order (default) any_order subset superset
	Steps []Step `json:"steps"`
}

// Step is a tool call of a sequence. Args is nil if they do not matter.
type Step struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// ToolArgs wants a call with these arguments.
type ToolArgs struct {
	Name  string          `json:"name"`
	Match string          `json:"match"` // exact, or partial (default): others may be there
	Args  json.RawMessage `json:"args"`
}

// OutputValue looks at a value of the required output. All that is set must
// hold.
type OutputValue struct {
	Path     string          `json:"path"` // $.a.b[0]; "$" is all of it
	Exists   *bool           `json:"exists,omitempty"`
	Equals   json.RawMessage `json:"equals,omitempty"`
	MinItems *int            `json:"min_items,omitempty"`
	MaxItems *int            `json:"max_items,omitempty"`
	Min      *float64        `json:"min,omitempty"`
	Max      *float64        `json:"max,omitempty"`
}

// TextMatch looks at the last answer. All that is set must hold.
type TextMatch struct {
	Contains   string `json:"contains,omitempty"`
	Equals     string `json:"equals,omitempty"`
	Matches    string `json:"matches,omitempty"` // regular expression (RE2)
	IgnoreCase bool   `json:"ignore_case,omitempty"`
}

// UsageBound bounds a number of the run.
type UsageBound struct {
	Metric string   `json:"metric"` // one of UsageMetrics
	Min    *float64 `json:"min,omitempty"`
	Max    *float64 `json:"max,omitempty"`
}

// Command is a program that judges the run; exit status 0 is good.
type Command struct {
	Run     []string      `json:"run"`
	Timeout time.Duration `json:"timeout,omitempty"`
}

// Verify runs the rules of turnlog verify over the run's own transcript.
type Verify struct {
	FailOn string `json:"fail_on"` // error (default), warning or note
}

// Baseline compares the run with an earlier transcript.
type Baseline struct {
	Transcript string `json:"baseline"` // relative to the task's Dir
	Mode       string `json:"mode"`     // as in ToolSequence
	Args       string `json:"args"`     // compare (default) or ignore
}

// The values of Assertion.Severity.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Statuses are those of a task.
func Statuses() []string {
	return []string{"ok", "failed", "error", "limit", "denied", "stuck", "no_output", "aborted", "skipped"}
}

// UsageMetrics are the numbers that an assertion can bound; times are seconds.
func UsageMetrics() []string {
	return []string{"turns", "tool_calls", "tokens", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost_usd", "wall_seconds"}
}

// assertion is one item of assert. The one that not needs is this table again,
// so it is read where it is used.
func (r *reader) assertion() table.Value[Assertion] {
	return table.Value[Assertion]{
		Schema: table.Ref("assertion"),
		Decode: func(d *table.Decoder, n *table.Node) (Assertion, bool) {
			start := Assertion{Severity: SeverityError, Place: place(n)}
			return table.Mapping("an assertion", start, r.assertionKeys).Then(checkAssertion).Decode(d, n)
		},
	}
}

// assertionKeys has one key per kind.
func (r *reader) assertionKeys(k *table.Keys, a *Assertion) {
	table.To(k, "status", table.OneOf(Statuses()...), &a.Status, "Status of the run.")
	table.To(k, "tool_used", judged(a, "tool_used", ToolUsed{}, r.toolUsedKeys, checkToolUsed), &a.ToolUsed, "How often a tool was called.")
	table.To(k, "not", table.Optional(r.assertion()), &a.Not, "The opposite.")
	table.To(k, "tool_sequence", judged(a, "tool_sequence", ToolSequence{Mode: "in_order"}, r.toolSequenceKeys), &a.ToolSequence, "Which tools were called, and in what order.")
	table.To(k, "tool_args", judged(a, "tool_args", ToolArgs{Match: "partial"}, r.toolArgsKeys), &a.ToolArgs, "A call with these arguments was made.")
	table.To(k, "output", judged(a, "output", OutputValue{}, outputValueKeys, r.checkOutputValue), &a.Output, "A value of the required output.")
	table.To(k, "text", judged(a, "text", TextMatch{}, textMatchKeys, checkTextMatch), &a.Text, "The last answer.")
	table.To(k, "usage", judged(a, "usage", UsageBound{}, usageBoundKeys, r.checkUsageBound), &a.Usage, "Tokens, cost, turns.")
	table.To(k, "command", judged(a, "command", Command{}, commandKeys), &a.Command, "A program that judges the run; exit status 0 is good.")
	table.To(k, "verify", judged(a, "verify", Verify{FailOn: "error"}, verifyKeys), &a.Verify, "The run's own transcript has no findings.")
	table.To(k, "matches", judged(a, "matches", Baseline{Mode: "exact", Args: "compare"}, baselineKeys), &a.Matches, "The run is like an earlier one.")
}

func checkAssertion(d *table.Decoder, n *table.Node, a *Assertion) {
	keys := slices.DeleteFunc(n.Members(), func(m table.Member) bool { return table.IsExtension(m.Name) })
	if len(keys) != 1 {
		d.At(n, "write one item of the list for each", "an assertion has one key, this one has %d", len(keys))
		return
	}
	a.Kind = keys[0].Name
}
