package assertion

import (
	"context"
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/transcript"
)

// toolSequence compares the calls with the steps. Arguments of a step are
// those that a call must have; it may have others, as with tool_args.
func toolSequence(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	var want []calls.Call
	for _, step := range a.ToolSequence.Steps {
		want = append(want, calls.Call{Name: step.Name, Arguments: step.Args})
	}
	return compare(want, made(s.Calls), calls.Sequence(a.ToolSequence.Mode), calls.MatchPartial)
}

// toolArgs wants one call with the arguments.
func toolArgs(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	want := calls.Call{Name: a.ToolArgs.Name, Arguments: a.ToolArgs.Args}
	return compare([]calls.Call{want}, made(s.Calls), calls.Superset, calls.ArgumentMatch(a.ToolArgs.Match))
}

// matches compares the calls with those of an earlier transcript.
func matches(ctx context.Context, a *task.Assertion, s *Subject) Outcome {
	want, err := baseline(ctx, s.Path(a.Matches.Transcript))
	if err != nil {
		return Outcome{false, err.Error()}
	}
	match := calls.MatchExact
	if a.Matches.Args == "ignore" {
		match = calls.MatchIgnore
	}
	return compare(want, made(s.Calls), calls.Sequence(a.Matches.Mode), match)
}

func made(list []transcript.Call) []calls.Call {
	out := make([]calls.Call, len(list))
	for i, c := range list {
		out[i] = calls.Call{Name: c.Name, Arguments: c.Arguments}
	}
	return out
}

// mostMismatches bounds how many are named in a message.
const mostMismatches = 3

func compare(want, got []calls.Call, s calls.Sequence, m calls.ArgumentMatch) Outcome {
	var names []string
	for _, c := range got {
		names = append(names, c.Name)
	}
	called := "none"
	if len(names) > 0 {
		called = strings.Join(names, ", ")
	}
	wrong := calls.Compare(want, got, s, m)
	if len(wrong) == 0 {
		return Outcome{true, "the calls were: " + called}
	}
	var parts []string
	for i, w := range wrong {
		if i == mostMismatches {
			parts = append(parts, fmt.Sprintf("%d more", len(wrong)-i))
			break
		}
		parts = append(parts, w.Describe(want, got))
	}
	return Outcome{false, strings.Join(parts, "; ") + " (the calls were: " + called + ")"}
}
