package batch

import (
	"errors"

	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
)

// summarize counts.
func (b *batch) summarize(sum *Summary, early error) {
	sum.Counts = map[string]int{}
	for i := range sum.Results {
		r := &sum.Results[i]
		sum.Counts[string(r.Status)]++
		sum.Usage.Add(r.Usage)
		sum.CostUSD += r.CostUSD
		if b.plans[i].kept != nil {
			sum.Kept++
		}
	}
	if early != nil {
		sum.Error = early.Error()
	}
	sum.DurationMs = max(b.o.Now().Sub(b.began).Milliseconds(), 0)
	sum.ExitCode = exitCode(sum.Results, early)
}

// coder is a cause that knows its exit code: a signal.
type coder interface{ ExitCode() int }

// exitCode is the code of a batch: that of a signal, or the one that its
// failed tasks share, else 1. Tasks that never started because of what ended
// the batch have none.
func exitCode(rs []results.Result, early error) int {
	var c coder
	if errors.As(early, &c) {
		return c.ExitCode()
	}
	if early != nil {
		return policy.Error.ExitCode()
	}
	code := 0
	for i := range rs {
		switch rc := rs[i].ExitCode; {
		case rc == 0 || rc == code:
		case code == 0:
			code = rc
		default:
			return policy.Failed.ExitCode()
		}
	}
	return code
}
