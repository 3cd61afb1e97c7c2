package assertion

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// toolSequence compares the calls with the steps. Arguments of a step are
// those that a call must have; it may have others, as with tool_args.
func toolSequence(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	var want []diff.Call
	for _, step := range a.ToolSequence.Steps {
		want = append(want, diff.Call{Name: step.Name, Arguments: step.Args})
	}
	return compare(want, made(s.Calls), diff.Sequence(a.ToolSequence.Mode), diff.MatchPartial)
}

// toolArgs wants one call with the arguments.
func toolArgs(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	want := diff.Call{Name: a.ToolArgs.Name, Arguments: a.ToolArgs.Args}
	return compare([]diff.Call{want}, made(s.Calls), diff.Superset, diff.ArgumentMatch(a.ToolArgs.Match))
}

// matches compares the calls with those of an earlier transcript.
func matches(ctx context.Context, a *task.Assertion, s *Subject) Outcome {
	want, err := baseline(ctx, s.Path(a.Matches.Transcript))
	if err != nil {
		return Outcome{false, err.Error()}
	}
	match := diff.MatchExact
	if a.Matches.Args == "ignore" {
		match = diff.MatchIgnore
	}
	return compare(want, made(s.Calls), diff.Sequence(a.Matches.Mode), match)
}

func made(calls []transcript.Call) []diff.Call {
	list := make([]diff.Call, len(calls))
	for i, c := range calls {
		list[i] = diff.Call{Name: c.Name, Arguments: c.Arguments}
	}
	return list
}

// mostMismatches bounds how many are named in a message.
const mostMismatches = 3

func compare(want, got []diff.Call, s diff.Sequence, m diff.ArgumentMatch) Outcome {
	var names []string
	for _, c := range got {
		names = append(names, c.Name)
	}
	calls := "none"
	if len(names) > 0 {
		calls = strings.Join(names, ", ")
	}
	wrong := diff.CompareCalls(want, got, s, m)
	if len(wrong) == 0 {
		return Outcome{true, "the calls were: " + calls}
	}
	var parts []string
	for i, w := range wrong {
		if i == mostMismatches {
			parts = append(parts, fmt.Sprintf("%d more", len(wrong)-i))
			break
		}
		parts = append(parts, w.Describe(want, got))
	}
	return Outcome{false, strings.Join(parts, "; ") + " (the calls were: " + calls + ")"}
}
