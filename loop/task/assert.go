package task

import (
	"encoding/json"
	"slices"
	"time"

	"gopkg.in/yaml.v3"
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

// sequenceModes say how the calls that were made relate to those wanted.
func sequenceModes() value[string] {
	return oneOf("exact", "in_order", "any_order", "subset", "superset")
}

// assertionTable has one key per kind. The one that not needs is this table
// again; it is found when it is used.
func assertionTable() object[Assertion] {
	return object[Assertion]{
		name: "an assertion",
		keys: []key[Assertion]{
			to("status", oneOf(Statuses()...), func(a *Assertion) *string { return &a.Status }, "Status of the run."),
			judged("tool_used", toolUsedTable(), func(a *Assertion) **ToolUsed { return &a.ToolUsed }, "How often a tool was called."),
			to("not", pointer(value[Assertion]{ref("assertion"), decodeAssertion}), func(a *Assertion) **Assertion { return &a.Not }, "The opposite."),
			judged("tool_sequence", toolSequenceTable(), func(a *Assertion) **ToolSequence { return &a.ToolSequence }, "Which tools were called, and in what order."),
			judged("tool_args", toolArgsTable(), func(a *Assertion) **ToolArgs { return &a.ToolArgs }, "A call with these arguments was made."),
			judged("output", outputValueTable(), func(a *Assertion) **OutputValue { return &a.Output }, "A value of the required output."),
			judged("text", textMatchTable(), func(a *Assertion) **TextMatch { return &a.Text }, "The last answer."),
			judged("usage", usageBoundTable(), func(a *Assertion) **UsageBound { return &a.Usage }, "Tokens, cost, turns."),
			judged("command", commandTable(), func(a *Assertion) **Command { return &a.Command }, "A program that judges the run; exit status 0 is good."),
			judged("verify", verifyTable(), func(a *Assertion) **Verify { return &a.Verify }, "The run's own transcript has no findings."),
			judged("matches", baselineTable(), func(a *Assertion) **Baseline { return &a.Matches }, "The run is like an earlier one."),
		},
		check: func(d *decoder, n *yaml.Node, a *Assertion) {
			keys := members(n)
			keys = slices.DeleteFunc(keys, func(m member) bool { return isExtension(m.name) })
			if len(keys) != 1 {
				d.at(n, "write one item of the list for each", "an assertion has one key, this one has %d", len(keys))
				return
			}
			a.Kind = keys[0].name
		},
	}
}

func decodeAssertion(d *decoder, n *yaml.Node) (Assertion, bool) {
	a := Assertion{Severity: SeverityError, Place: Place{n.Line, n.Column}}
	ok := d.tables.assertion.decode(d, n, &a)
	return a, ok
}

// assertion is one item of assert.
func assertion() value[Assertion] { return value[Assertion]{ref("assertion"), decodeAssertion} }

// judgement is what an assertion says, with how much it matters.
type judgement[T any] struct {
	what     T
	severity string
}

// judged adds the key severity, which stands among the keys of a kind, to its
// table.
func judged[T any](name string, table object[T], field func(*Assertion) **T, doc string) key[Assertion] {
	wrapped := object[judgement[T]]{name: table.name}
	for _, k := range table.keys {
		wrapped.keys = append(wrapped.keys, key[judgement[T]]{
			name: k.name, doc: k.doc, required: k.required, schema: k.schema,
			set: func(d *decoder, n *yaml.Node, j *judgement[T]) { k.set(d, n, &j.what) },
		})
	}
	wrapped.keys = append(wrapped.keys, to("severity", oneOf(SeverityError, SeverityWarning),
		func(j *judgement[T]) *string { return &j.severity }, "error (default), or warning: it is reported and fails nothing."))
	if table.check != nil {
		wrapped.check = func(d *decoder, n *yaml.Node, j *judgement[T]) { table.check(d, n, &j.what) }
	}
	return key[Assertion]{
		name: name, doc: doc, schema: wrapped.objectSchema(),
		set: func(d *decoder, n *yaml.Node, a *Assertion) {
			j := judgement[T]{severity: SeverityError}
			if wrapped.decode(d, n, &j) {
				*field(a), a.Severity = &j.what, j.severity
			}
		},
	}
}
