package task

import (
	"math"
	"regexp"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// sequenceModes say how the calls that were made relate to those wanted.
func sequenceModes() table.Value[string] {
	return table.OneOf("exact", "in_order", "any_order", "subset", "superset")
}

// judged is a kind of assertion; severity stands among its own keys.
func judged[T any](a *Assertion, name string, start T, keys func(*table.Keys, *T), checks ...func(*table.Decoder, *table.Node, *T)) table.Value[*T] {
	v := table.Mapping(name, start, func(k *table.Keys, t *T) {
		keys(k, t)
		table.To(k, "severity", table.OneOf(SeverityError, SeverityWarning), &a.Severity, "error (default), or warning: it is reported and fails nothing.")
	})
	for _, check := range checks {
		v = v.Then(check)
	}
	return table.Optional(v)
}

// toolUsedKeys may name a built-in tool that the task does not have: that it was not
// used can be said of one that was never there.
func (r *reader) toolUsedKeys(k *table.Keys, u *ToolUsed) {
	table.To(k, "name", r.toolName(r.opts.Builtins.Names()), &u.Name, "The tool.").Must()
	table.To(k, "min", table.Integer(0, math.MaxInt32), &u.Min, "At least so many calls; default 1, or 0 with max: 0.")
	table.To(k, "max", table.Optional(table.Integer(0, math.MaxInt32)), &u.Max, "At most so many calls.")
}

func checkToolUsed(d *table.Decoder, n *table.Node, u *ToolUsed) {
	if n.Find("min") == nil && (u.Max == nil || *u.Max > 0) {
		u.Min = 1
	}
	if u.Max != nil && *u.Max < u.Min {
		d.At(n, "", "max is less than min")
	}
}

func (r *reader) toolSequenceKeys(k *table.Keys, s *ToolSequence) {
	table.To(k, "mode", sequenceModes(), &s.Mode, "How the calls compare; default in_order: the steps in this order, others between them.")
	table.To(k, "steps", table.List(r.step()), &s.Steps, "The calls: names, or names with arguments.").Must()
}

// step is a tool name, or one with arguments.
func (r *reader) step() table.Value[Step] {
	short := table.Convert(r.toolName(r.opts.Builtins.Names()), func(name string) Step { return Step{Name: name} })
	return table.Either(short, table.Mapping("a step", Step{}, func(k *table.Keys, s *Step) {
		table.To(k, "name", r.toolName(r.opts.Builtins.Names()), &s.Name, "The tool.").Must()
		table.To(k, "args", table.JSONObject(), &s.Args, "Arguments of the call.")
	}))
}

func (r *reader) toolArgsKeys(k *table.Keys, a *ToolArgs) {
	table.To(k, "name", r.toolName(r.opts.Builtins.Names()), &a.Name, "The tool.").Must()
	table.To(k, "match", table.OneOf("exact", "partial"), &a.Match, "partial (default): the call may have other arguments besides.")
	table.To(k, "args", table.JSONObject(), &a.Args, "The arguments.").Must()
}

// OutputPath is the shape of OutputValue.Path: names and indexes.
const OutputPath = `^\$(\.[A-Za-z_][A-Za-z0-9_-]*|\[[0-9]+\]|\["[^"\\]+"\])*$`

var outputPath = regexp.MustCompile(OutputPath)

func outputValueKeys(k *table.Keys, o *OutputValue) {
	table.To(k, "path", table.Matching(outputPath, "a path such as $.items[0].name"), &o.Path, "Where the value is; $ is all of the output.").Must()
	table.To(k, "exists", table.Optional(table.Boolean()), &o.Exists, "Whether it is there.")
	table.To(k, "equals", table.JSON(), &o.Equals, "The value.")
	table.To(k, "min_items", table.Optional(table.Integer(0, math.MaxInt32)), &o.MinItems, "Least length of a list.")
	table.To(k, "max_items", table.Optional(table.Integer(0, math.MaxInt32)), &o.MaxItems, "Greatest length of a list.")
	table.To(k, "min", table.Optional(table.Number()), &o.Min, "Least number.")
	table.To(k, "max", table.Optional(table.Number()), &o.Max, "Greatest number.")
}

func (r *reader) checkOutputValue(d *table.Decoder, n *table.Node, _ *OutputValue) {
	if len(n.Members()) < 2 {
		d.At(n, "", "output needs something to compare with: exists, equals, min_items, max_items, min or max")
	}
	r.later(func() {
		if r.Finish.Output == nil {
			d.At(n, "", "the task requires no output, see finish.output")
		}
	})
}

func textMatchKeys(k *table.Keys, t *TextMatch) {
	table.To(k, "contains", table.Filled(), &t.Contains, "Part of the answer.")
	table.To(k, "equals", table.Filled(), &t.Equals, "All of the answer, without blanks around it.")
	table.To(k, "matches", table.Regexp(), &t.Matches, "Regular expression (RE2) that matches in the answer.")
	table.To(k, "ignore_case", table.Boolean(), &t.IgnoreCase, "Capital and small letters are the same.")
}

func checkTextMatch(d *table.Decoder, n *table.Node, t *TextMatch) {
	if t.Contains+t.Equals+t.Matches == "" {
		d.At(n, "", "text needs contains, equals or matches")
	}
}

func usageBoundKeys(k *table.Keys, u *UsageBound) {
	table.To(k, "metric", table.OneOf(UsageMetrics()...), &u.Metric, "The number.").Must()
	table.To(k, "min", table.Optional(table.NotNegative()), &u.Min, "At least.")
	table.To(k, "max", table.Optional(table.NotNegative()), &u.Max, "At most.")
}

func (r *reader) checkUsageBound(d *table.Decoder, n *table.Node, u *UsageBound) {
	if u.Min == nil && u.Max == nil {
		d.At(n, "", "usage needs min or max")
	}
	if u.Metric == "cost_usd" {
		r.needPrice(n, "the metric cost_usd")
	}
}

func commandKeys(k *table.Keys, c *Command) {
	table.To(k, "run", argv(), &c.Run, "The program and its arguments; there is no shell.").Must()
	table.To(k, "timeout", table.Duration(), &c.Timeout, "How long it may take.")
}

func verifyKeys(k *table.Keys, v *Verify) {
	table.To(k, "fail_on", table.OneOf("error", "warning", "note"), &v.FailOn, "The least severity that fails; default error.")
}

func baselineKeys(k *table.Keys, b *Baseline) {
	table.To(k, "baseline", table.Filled(), &b.Transcript, "The transcript to compare with, relative to this file.").Must()
	table.To(k, "mode", sequenceModes(), &b.Mode, "How the calls compare; default exact.")
	table.To(k, "args", table.OneOf("compare", "ignore"), &b.Args, "Whether the arguments count; default compare.")
}
