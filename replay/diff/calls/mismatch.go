package calls

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/text"
)

// Describe says in one line what is wrong, given the lists that were compared.
// It is safe to print.
func (m Mismatch) Describe(want, got []Call) string {
	const most = 120
	shown := func(c *Call) string {
		s := c.Name
		if len(c.Arguments) > 0 {
			s += " " + string(c.Arguments)
		}
		return text.Fit(text.Printable(s), most)
	}
	switch {
	case m.Want < 0:
		return fmt.Sprintf("call %d, %s, is not wanted", m.Got+1, shown(&got[m.Got]))
	case m.Got < 0:
		return fmt.Sprintf("%s was not called", shown(&want[m.Want]))
	}
	s := fmt.Sprintf("%s was not called, call %d came near:", shown(&want[m.Want]), m.Got+1)
	for i, f := range m.Fields {
		if i == 3 {
			return s + fmt.Sprintf(" and %d more", len(m.Fields)-i)
		}
		s += fmt.Sprintf(" %s is %s", text.Printable(f.Path), value(f.B, f.Kind != jsondiff.Removed))
		if f.Kind != jsondiff.Added {
			s += fmt.Sprintf(" and not %s", value(f.A, true))
		}
	}
	return s
}

func value(v any, there bool) string {
	if !there {
		return "missing"
	}
	return text.Fit(text.Printable(jsondiff.Text(v)), 60)
}
