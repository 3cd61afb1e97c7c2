package assertion

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop/task"
)

func toolUsed(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	n := 0
	for i := range s.Calls {
		if s.Calls[i].Name == a.ToolUsed.Name {
			n++
		}
	}
	ok := n >= a.ToolUsed.Min && (a.ToolUsed.Max == nil || n <= *a.ToolUsed.Max)
	return Outcome{ok, fmt.Sprintf("%s was called %d times", a.ToolUsed.Name, n)}
}

// toolSequence compares the names of the calls with those of the steps.
func toolSequence(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	var got, want []string
	for i := range s.Calls {
		got = append(got, s.Calls[i].Name)
	}
	for _, step := range a.ToolSequence.Steps {
		want = append(want, step.Name)
	}
	ok := sequences(a.ToolSequence.Mode, got, want)
	return Outcome{ok, fmt.Sprintf("the calls were: %s", orNone(strings.Join(got, ", ")))}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// sequences compares what was called with what was asked for.
func sequences(mode string, got, want []string) bool {
	switch mode {
	case "exact":
		return slices.Equal(got, want)
	case "any_order":
		return slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
	case "subset": // nothing but the steps was called
		return contains(want, got)
	case "superset": // every step was called
		return contains(got, want)
	}
	for _, name := range got { // in_order: the steps, others between them
		if len(want) > 0 && want[0] == name {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// contains reports whether all has everything that some has, as often.
func contains(all, some []string) bool {
	left := slices.Clone(all)
	for _, name := range some {
		i := slices.Index(left, name)
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return true
}
