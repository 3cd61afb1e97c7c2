package diff

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// contents says of each edit what it changes, field by field.
func (r *Result) contents(ctx context.Context, values int) error {
	d := describer{r: r, kept: newBudget(values), tree: reader{ignore: r.A.ignore}, explained: len(r.of(Tools))+len(r.of(Prompt)) > 0}
	for i := range r.Edits {
		if i%1024 == 0 && context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		if err := d.edit(&r.Edits[i]); err != nil {
			return err
		}
	}
	return d.answer()
}

// describer turns edits into changes.
type describer struct {
	r         *Result
	tree      reader
	answered  bool // the final answers are paired with each other
	explained bool // what system messages change is among the conditions
	kept      budget
}

func (d *describer) edit(e *Edit) error {
	switch e.Op {
	case Replace:
		return d.replaced(e)
	case Move:
		x, y := &d.r.A.steps[e.A], &d.r.B.steps[e.B]
		entry, err := d.r.A.load(x)
		if err != nil {
			return err
		}
		d.add(Change{Category: category(x), Kind: Moved, Subject: subject(entry), PlaceA: place(x), PlaceB: place(y), A: summary(entry), B: summary(entry)})
		return nil
	case Drop:
		return d.lone(d.r.A, e.A, Removed)
	default:
		return d.lone(d.r.B, e.B, Added)
	}
}

func (d *describer) add(c Change) {
	d.kept.keep(&c)
	d.r.Changes = append(d.r.Changes, c)
}

// lone is an entry that only one side has.
func (d *describer) lone(h *History, i int, kind Kind) error {
	s := &h.steps[i]
	e, err := h.load(s)
	if err != nil {
		return err
	}
	set := func(c Change, v any) Change {
		c.Kind = kind
		if kind == Removed {
			c.PlaceA, c.A = place(s), v
		} else {
			c.PlaceB, c.B = place(s), v
		}
		return c
	}
	if e.Message == nil || e.Message.Role != transcript.Assistant {
		said := summary(e)
		if s.kind == string(transcript.ToolResult) {
			said = e.Message.Text() // the tool is the subject
		}
		d.add(set(Change{Category: category(s), Subject: subject(e)}, said))
		return nil
	}
	for _, c := range e.Message.Calls() {
		d.add(set(Change{Category: Calls, Subject: c.Name}, arguments(c)))
	}
	if text := e.Message.Text(); text != "" || len(e.Message.Calls()) == 0 {
		d.add(set(Change{Category: Texts, Subject: subject(e)}, text))
	}
	return nil
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
	if e.Message != nil && e.Message.Role == transcript.ToolResult {
		return e.Message.ToolName
	}
	if kind := kindOf(e); kind != string(transcript.System) {
		return kind
	}
	return systemSubject
}

// replaced compares two entries that belong together.
func (d *describer) replaced(e *Edit) error {
	x, y := &d.r.A.steps[e.A], &d.r.B.steps[e.B]
	if e.A == d.r.A.final && e.B == d.r.B.final {
		d.answered = true
	}
	p, err := d.r.A.load(x)
	if err != nil {
		return err
	}
	q, err := d.r.B.load(y)
	if err != nil {
		return err
	}
	if !d.r.pairs.sameTarget(e.A, e.B) {
		d.add(Change{
			Category: category(x), Kind: Changed, Subject: subject(p), Path: "$.target", PlaceA: place(x), PlaceB: place(y),
			A: targetText(x), B: targetText(y),
		})
	}
	if x.kind == string(transcript.System) && d.explained {
		d.add(Change{Category: Entries, Kind: Changed, Subject: systemSubject, PlaceA: place(x), PlaceB: place(y), A: summary(p), B: summary(q)})
		return nil
	}
	saidA, settingsA, restA := d.tree.trees(p)
	saidB, settingsB, restB := d.tree.trees(q)
	final := e.A == d.r.A.final && e.B == d.r.B.final
	f := fieldChanges{x: x, y: y, p: p, q: q, final: final}
	f.message(saidA, saidB)
	for _, field := range append(jsondiff.Fields(settingsA, settingsB), jsondiff.Fields(restA, restB)...) {
		f.rest(field)
	}
	for _, c := range f.changes {
		d.add(c)
	}
	return nil
}

func targetText(s *step) any {
	if s.target < 0 {
		return nil
	}
	return jsondiff.Number(int64(s.target))
}

// answer compares the last answers if they do not belong together, so that
// nothing has compared them yet.
func (d *describer) answer() error {
	a, b := d.r.A, d.r.B
	if d.answered || a.final < 0 || b.final < 0 || d.r.pairs.A[a.final] == b.final {
		return nil
	}
	p, err := a.load(&a.steps[a.final])
	if err != nil {
		return err
	}
	q, err := b.load(&b.steps[b.final])
	if err != nil {
		return err
	}
	if x, y := p.Message.Text(), q.Message.Text(); x != y {
		c := valueChange(Answer, "assistant", x, y)
		c.PlaceA, c.PlaceB = place(&a.steps[a.final]), place(&b.steps[b.final])
		d.add(c)
	}
	return nil
}

// fieldChanges sorts the differences of two entries by what they are about.
type fieldChanges struct {
	x, y    *step
	p, q    *transcript.Entry
	final   bool
	changes []Change
}

func (f *fieldChanges) add(field jsondiff.Field, c Category, subject string) {
	change := changeOf(field, c, subject)
	change.PlaceA, change.PlaceB = place(f.x), place(f.y)
	f.changes = append(f.changes, change)
}

// message compares what two entries say. Calls are taken out of the blocks and
// compared on their own, so that arguments stand under the name of their tool.
func (f *fieldChanges) message(a, b map[string]any) {
	if f.x.kind == string(transcript.Assistant) && f.y.kind == f.x.kind {
		f.calls(takeCalls(a), takeCalls(b))
	}
	for _, field := range jsondiff.Fields(a, b) {
		f.add(field, f.category(field.Path), subject(f.p))
	}
}

// category of a field by its path.
func (f *fieldChanges) category(path string) Category {
	top, _, _ := strings.Cut(strings.TrimPrefix(path, "$."), "[")
	top, _, _ = strings.Cut(top, ".")
	switch {
	case top == "stopReason" || top == "rawStopReason" || top == "errorMessage":
		return Stop
	case f.x.kind == string(transcript.Assistant) && f.final:
		return Answer
	}
	return category(f.x)
}

// rest is a difference of settings, or of members that are volatile.
func (f *fieldChanges) rest(field jsondiff.Field) {
	c := Model
	switch top, _, _ := strings.Cut(strings.TrimPrefix(field.Path, "$."), "."); {
	case top == "usage":
		c = Usage
	case volatile(top) || top == "entry":
		c = f.category("$.content")
	default:
		return // settings are compared as conditions of the request
	}
	f.add(field, c, subject(f.p))
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

// calls pairs the calls of two answers: the same, then those of one tool.
func (f *fieldChanges) calls(a, b []any) {
	pairs := jsondiff.Items(a, b)
	for i, j := range pairs.A {
		if j < 0 {
			f.lone(a[i], Removed)
			continue
		}
		name, other := member(a[i], "name"), member(b[j], "name")
		if !jsondiff.Equal(name, other) {
			f.lone(a[i], Removed)
			f.lone(b[j], Added)
			continue
		}
		for _, field := range jsondiff.Fields(a[i], b[j]) {
			f.add(field, Arguments, stringOf(name))
		}
	}
	for j, i := range pairs.B {
		if i < 0 {
			f.lone(b[j], Added)
		}
	}
}

func (f *fieldChanges) lone(call any, kind Kind) {
	arguments := member(call, "arguments")
	field := jsondiff.Field{Kind: kind, A: arguments}
	if kind == Added {
		field.A, field.B = nil, arguments
	}
	f.add(field, Calls, stringOf(member(call, "name")))
}

func member(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

// arguments of a call, nil for none.
func arguments(c *transcript.Call) any {
	if len(c.Arguments) == 0 {
		return nil
	}
	return jsondiff.Decode(c.Arguments)
}

func stringOf(v any) string {
	s, _ := v.(string)
	return s
}

func tokenTree(t Tokens) any {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil // numbers only: cannot be
	}
	return jsondiff.Decode(raw)
}

// systemSubject is what a system message is called in changes.
const systemSubject = "system message"
