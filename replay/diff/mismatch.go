package diff

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/report"
)

// Calls are the tool calls of the path in order, those of answers that did not
// arrive left out.
func (h *History) Calls() []Call { return h.calls }

// Describe says in one line what is wrong, given the lists that were compared.
// It is safe to print.
func (m Mismatch) Describe(want, got []Call) string {
	const most = 120
	shown := func(c *Call) string {
		text := c.Name
		if len(c.Arguments) > 0 {
			text += " " + string(c.Arguments)
		}
		return cutTo(report.Printable(text), most)
	}
	switch {
	case m.Want < 0:
		return fmt.Sprintf("call %d, %s, is not wanted", m.Got+1, shown(&got[m.Got]))
	case m.Got < 0:
		return fmt.Sprintf("%s was not called", shown(&want[m.Want]))
	}
	text := fmt.Sprintf("%s was not called, call %d came near:", shown(&want[m.Want]), m.Got+1)
	for i, f := range m.Fields {
		if i == 3 {
			return text + fmt.Sprintf(" and %d more", len(m.Fields)-i)
		}
		text += fmt.Sprintf(" %s is %s", report.Printable(f.Path), value(f.B, f.InB))
		if f.InA {
			text += fmt.Sprintf(" and not %s", value(f.A, true))
		}
	}
	return text
}

func value(v any, there bool) string {
	if !there {
		return "missing"
	}
	return cutTo(report.Printable(valueText(v)), 60)
}
