package task

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// assertedTool is a tool that the task has, or a built-in one: that a tool was
// not used can be said of one that was never there.
func assertedTool() value[string] {
	v := filled()
	return value[string]{
		schema: v.schema,
		decode: func(d *decoder, n *yaml.Node) (string, bool) {
			name, ok := v.decode(d, n)
			if ok {
				d.later(func() { d.checkToolName(n, name, d.opts.Builtins.Names()) })
			}
			return name, ok
		},
	}
}

func toolUsedTable() object[ToolUsed] {
	return object[ToolUsed]{
		name: "tool_used",
		keys: []key[ToolUsed]{
			to("name", assertedTool(), func(u *ToolUsed) *string { return &u.Name }, "The tool.").must(),
			to("min", integer(0, math.MaxInt32), func(u *ToolUsed) *int { return &u.Min }, "At least so many calls; default 1, or 0 with max: 0."),
			to("max", pointer(integer(0, math.MaxInt32)), func(u *ToolUsed) **int { return &u.Max }, "At most so many calls."),
		},
		check: func(d *decoder, n *yaml.Node, u *ToolUsed) {
			hasMin := slices.ContainsFunc(members(n), func(m member) bool { return m.name == "min" })
			if !hasMin && (u.Max == nil || *u.Max > 0) {
				u.Min = 1
			}
			if u.Max != nil && *u.Max < u.Min {
				d.at(n, "", "max is less than min")
			}
		},
	}
}

func toolSequenceTable() object[ToolSequence] {
	return object[ToolSequence]{
		name: "tool_sequence",
		keys: []key[ToolSequence]{
			to("mode", sequenceModes(), func(s *ToolSequence) *string { return &s.Mode }, "How the calls compare; default in_order: the steps in this order, others between them."),
			to("steps", list(step()), func(s *ToolSequence) *[]Step { return &s.Steps }, "The calls: names, or names with arguments.").must(),
		},
		check: func(_ *decoder, _ *yaml.Node, s *ToolSequence) {
			if s.Mode == "" {
				s.Mode = "in_order"
			}
		},
	}
}

// step is a tool name, or one with arguments.
func step() value[Step] {
	long := object[Step]{
		name: "a step",
		keys: []key[Step]{
			to("name", assertedTool(), func(s *Step) *string { return &s.Name }, "The tool.").must(),
			to("args", objectJSON(), func(s *Step) *json.RawMessage { return &s.Args }, "Arguments of the call."),
		},
	}.value(Step{})
	short := assertedTool()
	return value[Step]{
		schema: &schemaNode{AnyOf: []*schemaNode{short.schema, long.schema}},
		decode: func(d *decoder, n *yaml.Node) (Step, bool) {
			if n.Kind == yaml.MappingNode {
				return long.decode(d, n)
			}
			name, ok := short.decode(d, n)
			return Step{Name: name}, ok
		},
	}
}

func toolArgsTable() object[ToolArgs] {
	return object[ToolArgs]{
		name: "tool_args",
		keys: []key[ToolArgs]{
			to("name", assertedTool(), func(a *ToolArgs) *string { return &a.Name }, "The tool.").must(),
			to("match", oneOf("exact", "partial"), func(a *ToolArgs) *string { return &a.Match }, "partial (default): the call may have other arguments besides."),
			to("args", objectJSON(), func(a *ToolArgs) *json.RawMessage { return &a.Args }, "The arguments.").must(),
		},
		check: func(_ *decoder, _ *yaml.Node, a *ToolArgs) {
			if a.Match == "" {
				a.Match = "partial"
			}
		},
	}
}

func outputValueTable() object[OutputValue] {
	return object[OutputValue]{
		name: "output",
		keys: []key[OutputValue]{
			to("path", matching(OutputPath, "a path such as $.items[0].name"), func(o *OutputValue) *string { return &o.Path }, "Where the value is; $ is all of the output.").must(),
			to("exists", pointer(boolean()), func(o *OutputValue) **bool { return &o.Exists }, "Whether it is there."),
			to("equals", anyJSON(), func(o *OutputValue) *json.RawMessage { return &o.Equals }, "The value."),
			to("min_items", pointer(integer(0, math.MaxInt32)), func(o *OutputValue) **int { return &o.MinItems }, "Least length of a list."),
			to("max_items", pointer(integer(0, math.MaxInt32)), func(o *OutputValue) **int { return &o.MaxItems }, "Greatest length of a list."),
			to("min", pointer(signed()), func(o *OutputValue) **float64 { return &o.Min }, "Least number."),
			to("max", pointer(signed()), func(o *OutputValue) **float64 { return &o.Max }, "Greatest number."),
		},
		check: func(d *decoder, n *yaml.Node, _ *OutputValue) {
			if len(members(n)) < 2 {
				d.at(n, "", "output needs something to compare with: exists, equals, min_items, max_items, min or max")
			}
			d.later(func() {
				if !d.hasOutput {
					d.at(n, "", "the task requires no output, see finish.output")
				}
			})
		},
	}
}

// OutputPath is the shape of OutputValue.Path: names and indexes.
const OutputPath = `^\$(\.[A-Za-z_][A-Za-z0-9_-]*|\[[0-9]+\]|\["[^"\\]+"\])*$`

func textMatchTable() object[TextMatch] {
	return object[TextMatch]{
		name: "text",
		keys: []key[TextMatch]{
			to("contains", filled(), func(t *TextMatch) *string { return &t.Contains }, "Part of the answer."),
			to("equals", filled(), func(t *TextMatch) *string { return &t.Equals }, "All of the answer, without blanks around it."),
			to("matches", regex(), func(t *TextMatch) *string { return &t.Matches }, "Regular expression (RE2) that matches in the answer."),
			to("ignore_case", boolean(), func(t *TextMatch) *bool { return &t.IgnoreCase }, "Capital and small letters are the same."),
		},
		check: func(d *decoder, n *yaml.Node, t *TextMatch) {
			if t.Contains+t.Equals+t.Matches == "" {
				d.at(n, "", "text needs contains, equals or matches")
			}
		},
	}
}

func usageBoundTable() object[UsageBound] {
	return object[UsageBound]{
		name: "usage",
		keys: []key[UsageBound]{
			to("metric", oneOf(UsageMetrics()...), func(u *UsageBound) *string { return &u.Metric }, "The number.").must(),
			to("min", pointer(number()), func(u *UsageBound) **float64 { return &u.Min }, "At least."),
			to("max", pointer(number()), func(u *UsageBound) **float64 { return &u.Max }, "At most."),
		},
		check: func(d *decoder, n *yaml.Node, u *UsageBound) {
			if u.Min == nil && u.Max == nil {
				d.at(n, "", "usage needs min or max")
			}
			if u.Metric == "cost_usd" {
				d.needPrice(n, "the metric cost_usd")
			}
		},
	}
}

func commandTable() object[Command] {
	return object[Command]{
		name: "command",
		keys: []key[Command]{
			to("run", nonEmpty(list(text())), func(c *Command) *[]string { return &c.Run }, "The program and its arguments; there is no shell.").must(),
			to("timeout", duration(), func(c *Command) *time.Duration { return &c.Timeout }, "How long it may take."),
		},
	}
}

func verifyTable() object[Verify] {
	return object[Verify]{
		name: "verify",
		keys: []key[Verify]{
			to("fail_on", oneOf("error", "warning", "note"), func(v *Verify) *string { return &v.FailOn }, "The least severity that fails; default error."),
		},
		check: func(_ *decoder, _ *yaml.Node, v *Verify) {
			if v.FailOn == "" {
				v.FailOn = "error"
			}
		},
	}
}

func baselineTable() object[Baseline] {
	return object[Baseline]{
		name: "matches",
		keys: []key[Baseline]{
			to("baseline", filled(), func(b *Baseline) *string { return &b.Transcript }, "The transcript to compare with, relative to this file.").must(),
			to("mode", sequenceModes(), func(b *Baseline) *string { return &b.Mode }, "How the calls compare; default exact."),
			to("args", oneOf("compare", "ignore"), func(b *Baseline) *string { return &b.Args }, "Whether the arguments count; default compare."),
		},
		check: func(_ *decoder, _ *yaml.Node, b *Baseline) {
			if b.Mode == "" {
				b.Mode = "exact"
			}
			if b.Args == "" {
				b.Args = "compare"
			}
		},
	}
}

// regex is a regular expression in Go's syntax.
func regex() value[string] {
	return value[string]{
		schema: &schemaNode{Type: "string", MinLength: 1},
		decode: func(d *decoder, n *yaml.Node) (string, bool) {
			s, ok := filled().decode(d, n)
			if !ok {
				return "", false
			}
			if _, err := regexp.Compile(s); err != nil {
				d.at(n, "", "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
				return "", false
			}
			return s, true
		},
	}
}
