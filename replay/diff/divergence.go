package diff

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// diverge counts what both histories begin with, and says where they part and
// what differed there already. What an answer was asked with belongs to it.
func (r *Result) diverge() error {
	n := 0
	for ; n < len(r.A.steps) && n < len(r.B.steps) && r.pairs.A[n] == n && r.same(n) && r.first != n; n++ {
		if r.A.steps[n].message() {
			r.Common.Messages++
		}
		if r.A.steps[n].kind == string(transcript.Assistant) {
			r.Common.Turns++
		}
	}
	if r.Equal() || n == len(r.A.steps) && n == len(r.B.steps) && r.first < 0 {
		return nil // nothing, or damage or usage only
	}
	a, err := r.A.moment(n)
	if err != nil {
		return err
	}
	b, err := r.B.moment(n)
	if err != nil {
		return err
	}
	r.Divergence = &Divergence{a, b}
	r.causes(n)
	return nil
}

func (r *Result) same(n int) bool {
	return r.Mode != Full || r.A.steps[n].whole == r.B.steps[n].whole && r.pairs.sameTarget(n, n)
}

// moment shows a step, nil behind the last.
func (h *History) moment(n int) (*Moment, error) {
	if n >= len(h.steps) {
		return nil, nil
	}
	s := &h.steps[n]
	e, err := h.load(s)
	if err != nil {
		return nil, err
	}
	return &Moment{Place: place(s), Kind: s.kind, Text: summary(e)}, nil
}

// conditionsOnly reports whether the histories part at a request and not at
// what a message says.
func (r *Result) conditionsOnly() bool {
	n := r.first
	return n >= 0 && n < len(r.A.steps) && n < len(r.B.steps) && r.A.steps[n].said == r.B.steps[n].said
}

// causes are the conditions in which the requests that follow the divergence
// differ: whatever the model did differently, it did under these. Where the
// histories part at what a tool returned, that comes first and is none of them.
func (r *Result) causes(n int) {
	x, turnA, askedA := r.A.nextRequest(n)
	y, turnB, askedB := r.B.nextRequest(n)
	if x == nil || y == nil || askedA != askedB || r.A.returnedAt(n) || r.B.returnedAt(n) {
		return
	}
	t := r.newTrail(0)
	t.pass(n, x, y, Place{}, Place{})
	r.parted = t.finish()
	r.turns = [2]int{turnA, turnB}
	for _, c := range []Category{Tools, Prompt, Model} {
		if slices.ContainsFunc(r.parted, func(p Change) bool { return p.Category == c }) {
			r.Causes = append(r.Causes, c)
		}
	}
}

// nextRequest is the situation and the turn of the first request at or behind
// a step, or those at the end.
func (h *History) nextRequest(n int) (at *situation, turn int, asked bool) {
	for i := n; i < len(h.steps); i++ {
		if s := &h.steps[i]; s.at != nil {
			return s.at, s.turn, true
		}
	}
	return h.end, h.Turns, false
}

func (h *History) returnedAt(n int) bool {
	return n < len(h.steps) && h.steps[n].kind == string(transcript.ToolResult)
}

// summary is an entry in one line.
func summary(e *transcript.Entry) string {
	m := e.Message
	if m == nil && e.Custom != nil {
		m = e.Custom.Message
	}
	if m == nil {
		return entrySummary(e)
	}
	var parts []string
	if m.IsError {
		parts = append(parts, "error")
	}
	if m.Role == transcript.ToolResult {
		parts = append(parts, m.ToolName+":")
	}
	if text := strings.TrimSpace(m.Text()); text != "" {
		parts = append(parts, text)
	}
	for _, c := range m.Calls() {
		parts = append(parts, "> "+c.Name+" "+string(c.Arguments))
	}
	for _, t := range m.ToolsRemoved {
		parts = append(parts, "- tool "+t.Name)
	}
	for i := range m.ToolsAdded {
		parts = append(parts, "+ tool "+m.ToolsAdded[i].Name)
	}
	for _, s := range m.Sections {
		parts = append(parts, map[bool]string{false: "+ section ", true: "- section "}[s.Removed]+s.Name)
	}
	if m.ErrorMessage != "" {
		parts = append(parts, m.ErrorMessage)
	}
	if m.Bash != nil {
		parts = append(parts, "$ "+m.Bash.Command)
	}
	return cmp.Or(strings.Join(parts, "  "), "nothing")
}

func entrySummary(e *transcript.Entry) string {
	switch {
	case e.Compaction != nil:
		return e.Compaction.Summary
	case e.Branch != nil:
		return e.Branch.Summary
	case e.Label != nil:
		return strconv.Quote(e.Label.Label)
	case e.Custom != nil:
		return e.Custom.CustomType + " " + string(e.Custom.Data)
	case e.Edit != nil && e.Edit.Replacement == nil:
		return "drops an entry"
	}
	return e.Type
}
