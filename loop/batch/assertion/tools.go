package assertion

import (
	"context"
	"fmt"

	"github.com/turnlog/turnlog/loop/task"
)

func toolUsed(_ context.Context, a *task.Assertion, s *Subject) Outcome {
	n := 0
	for i := range s.Calls {
		if s.Calls[i].Name == a.ToolUsed.Name {
			n++
		}
	}
	return Outcome{within(n, &a.ToolUsed.Min, a.ToolUsed.Max), fmt.Sprintf("%s was called %d times", a.ToolUsed.Name, n)}
}
