// Package assertion judges a finished task by what its assert section says:
// the calls that were made, the answer, the numbers, the transcript itself.
package assertion

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/choice"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Subject is what assertions look at.
type Subject struct {
	Status string            // of the run, before assertions
	Calls  []transcript.Call // in the order in which the model made them
	Text   string            // of the last answer
	Output json.RawMessage   // the required answer; nil if there is none
	Usage  map[string]float64

	// Command runs a program where the task's tools work.
	Command func(ctx context.Context, argv []string, timeout time.Duration) (output string, ok bool)

	// Path finds a file that the task names.
	Path func(name string) string

	// Verify checks the task's transcript: how many findings it has at or
	// above a severity, and the first of them.
	Verify func(ctx context.Context, failOn string) (findings int, first string, err error)
}

// Outcome of one assertion.
type Outcome struct {
	OK      bool
	Message string // why not, or what was found
}

// kinds is the table of assertions.
func kinds() choice.Table[func(context.Context, *task.Assertion, *Subject) Outcome] {
	return choice.Table[func(context.Context, *task.Assertion, *Subject) Outcome]{
		{Name: "status", Value: status},
		{Name: "tool_used", Value: toolUsed},
		{Name: "not", Value: not},
		{Name: "tool_sequence", Value: toolSequence},
		{Name: "tool_args", Value: toolArgs},
		{Name: "output", Value: output},
		{Name: "text", Value: text},
		{Name: "usage", Value: usage},
		{Name: "command", Value: command},
		{Name: "verify", Value: verify},
		{Name: "matches", Value: matches},
	}
}

// Check judges one assertion.
func Check(ctx context.Context, a *task.Assertion, s *Subject) Outcome {
	check, ok := kinds().Get(a.Kind)
	if !ok {
		return Outcome{Message: fmt.Sprintf("assertions of kind %s cannot be judged yet", a.Kind)}
	}
	return check(ctx, a, s)
}

// Supported says why an assertion cannot be judged, or nil: what is missing is
// said before anything runs. path finds a file that the task names.
func Supported(a *task.Assertion, path func(name string) string) error {
	switch _, known := kinds().Get(a.Kind); {
	case a.Not != nil:
		return Supported(a.Not, path)
	case !known:
		return fmt.Errorf("assertions of kind %s cannot be judged yet", a.Kind)
	case a.Matches != nil:
		// There is nothing to interrupt yet.
		_, err := baseline(context.Background(), path(a.Matches.Transcript))
		return err
	}
	return nil
}

// Name is what an assertion is called in reports.
func Name(a *task.Assertion) string {
	switch {
	case a.Not != nil:
		return "not " + Name(a.Not)
	case a.ToolUsed != nil:
		return "tool_used " + a.ToolUsed.Name
	case a.ToolArgs != nil:
		return "tool_args " + a.ToolArgs.Name
	case a.Matches != nil:
		return "matches " + a.Matches.Transcript
	case a.Usage != nil:
		return "usage " + a.Usage.Metric
	case a.Output != nil:
		return "output " + a.Output.Path
	case a.Command != nil:
		return "command " + a.Command.Run[0]
	case a.Status != "":
		return "status " + a.Status
	}
	return a.Kind
}

func status(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	return Outcome{s.Status == a.Status, "the status is " + s.Status}
}

func not(ctx context.Context, a *task.Assertion, s *Subject) Outcome {
	o := Check(ctx, a.Not, s)
	return Outcome{!o.OK, o.Message}
}

func command(ctx context.Context, a *task.Assertion, s *Subject) Outcome {
	out, ok := s.Command(ctx, a.Command.Run, a.Command.Timeout)
	return Outcome{ok, out}
}

func verify(ctx context.Context, a *task.Assertion, s *Subject) Outcome {
	n, first, err := s.Verify(ctx, a.Verify.FailOn)
	switch {
	case err != nil:
		return Outcome{false, "the transcript could not be verified: " + err.Error()}
	case n > 0:
		return Outcome{false, fmt.Sprintf("%d findings, the first: %s", n, first)}
	}
	return Outcome{true, "no findings"}
}
