package diff

import (
	"context"
	"strings"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// contents says of each edit what it changes, field by field.
func (r *Result) contents(ctx context.Context, values int) error {
	d := describer{Result: r, kept: newBudget(values), explained: len(r.of(Tools))+len(r.of(Prompt)) > 0}
	for i, e := range r.Edits {
		if i%1024 == 0 && context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		if err := d.load(e.A, e.B); err != nil {
			return err
		}
		d.edit(e)
	}
	return d.answer()
}

// describer turns edits into changes.
type describer struct {
	*Result
	kept      budget
	explained bool // what system messages change is among the conditions
	answered  bool // the final answers have been compared

	// The steps of the edit and their entries; nil for a side that has none.
	x, y  *step
	p, q  *transcript.Entry
	final bool // these are the last answers of both sides
}

func (d *describer) load(i, j int) (err error) {
	d.x, d.y, d.p, d.q = nil, nil, nil, nil
	if i >= 0 {
		d.x = &d.A.steps[i]
		d.p, err = d.A.load(d.x)
	}
	if j >= 0 && err == nil {
		d.y = &d.B.steps[j]
		d.q, err = d.B.load(d.y)
	}
	d.final = i >= 0 && i == d.A.final && j == d.B.final
	d.answered = d.answered || d.final
	return err
}

func (d *describer) add(c Category, subject string, f jsondiff.Field) {
	change := changeOf(f, c, subject)
	change.PlaceA, change.PlaceB = place(d.x), place(d.y)
	d.kept.keep(&change)
	d.Changes = append(d.Changes, change)
}

func (d *describer) edit(e Edit) {
	switch e.Op {
	case Move:
		said := summary(d.p)
		d.add(category(d.x), subject(d.p), jsondiff.Field{Kind: Moved, A: said, B: said})
	case Drop:
		d.lone(d.x, d.p, Removed)
	case Insert:
		d.lone(d.y, d.q, Added)
	default:
		d.replaced(e)
	}
}

// one is a value that only one side has.
func one(k Kind, v any) jsondiff.Field {
	if k == Added {
		return jsondiff.Field{Kind: k, B: v}
	}
	return jsondiff.Field{Kind: k, A: v}
}

// lone is an entry that only one side has.
func (d *describer) lone(s *step, e *transcript.Entry, kind Kind) {
	m := e.Message
	switch {
	case s.kind == string(transcript.ToolResult):
		d.add(Results, m.ToolName, one(kind, m.Text()))
		return
	case m == nil || m.Role != transcript.Assistant:
		d.add(category(s), subject(e), one(kind, summary(e)))
		return
	}
	for _, c := range m.Calls() {
		d.add(Calls, c.Name, one(kind, jsondiff.Decode(c.Arguments)))
	}
	if text := m.Text(); text != "" || len(m.Calls()) == 0 {
		d.add(Texts, subject(e), one(kind, text))
	}
}

// category is where a whole entry belongs.
func category(s *step) Category {
	switch s.kind {
	case string(transcript.User), appMessage, string(transcript.BashExecution):
		return Input
	case string(transcript.Assistant):
		return Texts
	case string(transcript.ToolResult):
		return Results
	}
	return Entries
}

// subject names an entry: the tool of a result, else what it is.
func subject(e *transcript.Entry) string {
	switch kind := kindOf(e); kind {
	case string(transcript.ToolResult):
		return e.Message.ToolName
	case string(transcript.System):
		return "system message"
	default:
		return kind
	}
}

// replaced compares two entries that belong together.
func (d *describer) replaced(e Edit) {
	if !d.pairs.sameTarget(e.A, e.B) {
		d.add(category(d.x), subject(d.p), jsondiff.Field{Path: "$.target", Kind: Changed, A: targetText(d.x), B: targetText(d.y)})
	}
	if d.x.kind == string(transcript.System) && d.explained {
		d.add(Entries, subject(d.p), jsondiff.Field{Kind: Changed, A: summary(d.p), B: summary(d.q)})
		return
	}
	a, b := d.A.trees(d.p), d.A.trees(d.q)
	if d.x.kind == string(transcript.Assistant) && d.y.kind == d.x.kind {
		d.calls(takeCalls(a.said), takeCalls(b.said))
	}
	for _, f := range jsondiff.Fields(a.said, b.said) {
		d.add(d.category(f.Path), subject(d.p), f)
	}
	// Settings are compared as conditions of the request.
	for _, f := range jsondiff.Fields(a.rest, b.rest) {
		c := d.category("$.content")
		if strings.HasPrefix(f.Path, "$.usage") {
			c = Usage
		}
		d.add(c, subject(d.p), f)
	}
}

func targetText(s *step) any {
	if s.target < 0 {
		return nil
	}
	return jsondiff.Number(int64(s.target))
}

// category of a field by its path.
func (d *describer) category(path string) Category {
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "$."), "[")
	top, _, _ = strings.Cut(top, ".")
	switch {
	case top == "stopReason" || top == "rawStopReason" || top == "errorMessage":
		return Stop
	case d.x.kind == string(transcript.Assistant) && d.final:
		return Answer
	}
	return category(d.x)
}

// answer compares the last answers if they do not belong together, so that
// nothing has compared them yet.
func (d *describer) answer() error {
	i, j := d.A.final, d.B.final
	if d.answered || i < 0 || j < 0 || d.pairs.A[i] == j {
		return nil
	}
	err := d.load(i, j)
	if err == nil && d.p.Message.Text() != d.q.Message.Text() {
		d.add(Answer, string(transcript.Assistant), jsondiff.Field{Kind: Changed, A: d.p.Message.Text(), B: d.q.Message.Text()})
	}
	return err
}

// takeCalls removes the call blocks from the content of an answer.
func takeCalls(tree map[string]any) (calls []any) {
	blocks, _ := tree["content"].([]any)
	var rest []any
	for _, b := range blocks {
		if member(b, "type") == transcript.BlockToolCall {
			calls = append(calls, b)
		} else {
			rest = append(rest, b)
		}
	}
	tree["content"] = rest
	return calls
}

// calls compares the calls of two answers, apart from the other blocks, so that
// arguments stand under the name of their tool: those that are the same, then
// those of one tool.
func (d *describer) calls(a, b []any) {
	lone := func(call any, kind Kind) {
		d.add(Calls, stringOf(member(call, "name")), one(kind, member(call, "arguments")))
	}
	pairs := jsondiff.Items(a, b)
	for i, j := range pairs.A {
		switch {
		case j < 0:
			lone(a[i], Removed)
		case !jsondiff.Equal(member(a[i], "name"), member(b[j], "name")):
			lone(a[i], Removed)
			lone(b[j], Added)
		default:
			for _, f := range jsondiff.Fields(a[i], b[j]) {
				d.add(Arguments, stringOf(member(a[i], "name")), f)
			}
		}
	}
	for j, i := range pairs.B {
		if i < 0 {
			lone(b[j], Added)
		}
	}
}

func member(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

func stringOf(v any) string {
	s, _ := v.(string)
	return s
}
