// Package assertion judges a finished task by what its assert section says:
// the calls that were made, the answer, the numbers, the transcript itself.
package assertion

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/turnlog/turnlog/loop/task"
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

// kind is a row of the table of assertions.
type kind struct {
	name  string
	check func(context.Context, *task.Assertion, *Subject) Outcome
}

// kinds is the table.
func kinds() []kind {
	return []kind{
		{"status", status},
		{"tool_used", toolUsed},
		{"not", not},
		{"tool_sequence", toolSequence},
		{"tool_args", toolArgs},
		{"output", output},
		{"text", text},
		{"usage", usage},
		{"command", command},
		{"verify", verify},
		{"matches", matches},
	}
}

// Check judges one assertion.
func Check(ctx context.Context, a *task.Assertion, s *Subject) Outcome {
	for _, k := range kinds() {
		if k.name == a.Kind {
			return k.check(ctx, a, s)
		}
	}
	return Outcome{Message: fmt.Sprintf("assertions of kind %s cannot be judged yet", a.Kind)}
}

// Supported says why an assertion cannot be judged, or nil: what is missing is
// said before anything runs. path finds a file that the task names.
func Supported(a *task.Assertion, path func(name string) string) error {
	switch {
	case a.Not != nil:
		return Supported(a.Not, path)
	case !slices.ContainsFunc(kinds(), func(k kind) bool { return k.name == a.Kind }):
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
