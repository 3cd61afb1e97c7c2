package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Program runs a program of the task to its end. ok is an exit status of 0;
// output is what it printed, bounded, with a note on how it ended.
type Program func(ctx context.Context, argv []string, timeout time.Duration) (output string, ok bool)

// Checks lets programs judge the work when the agent would stop. A failure
// sends the agent back, as long as the check has rounds left, or ends the task.
type Checks struct {
	list  []task.Check
	left  []int // rounds
	run   Program
	stop  *Stop
	final bool

	results []CheckResult
}

// CheckResult is how a check went the last time it ran.
type CheckResult struct {
	Name   string
	OK     bool
	Output string
	Rounds int // how often it sent the agent back
}

// NewChecks prepares checks.
func NewChecks(list []task.Check, run Program, stop *Stop) *Checks {
	c := &Checks{list: list, run: run, stop: stop, left: make([]int, len(list)), results: make([]CheckResult, len(list))}
	for i := range list {
		c.left[i] = list[i].Rounds
		c.results[i].Name = list[i].Name
	}
	return c
}

// Policy returns the seam.
func (c *Checks) Policy() Policy {
	if len(c.list) == 0 {
		return Policy{}
	}
	return Policy{FollowUp: c.followUp}
}

// Final says that the run that comes is the last one.
func (c *Checks) Final() { c.final = true }

// Results are those of the checks that ran, in the order of the task file.
func (c *Checks) Results() []CheckResult {
	return slices.DeleteFunc(slices.Clone(c.results), func(r CheckResult) bool { return !r.OK && r.Output == "" })
}

func (c *Checks) followUp(ctx context.Context) ([]transcript.Message, error) {
	if !c.final || c.stop.Stopped() {
		return nil, nil
	}
	for i, check := range c.list {
		output, ok := c.run(ctx, check.Run, check.Timeout)
		if ctx.Err() != nil {
			return nil, nil // the abort ends the run, not the check
		}
		r := &c.results[i]
		r.OK, r.Output = ok, output
		if ok {
			continue
		}
		if r.Output == "" {
			r.Output = "(no output)"
		}
		if c.left[i] == 0 {
			c.stop.Set(Failed, fmt.Sprintf("check %s: %s", check.Name, firstLine(r.Output)))
			return nil, nil
		}
		c.left[i]--
		r.Rounds++
		text := complaint(check.Name) + r.Output + "\n\nRepair what is wrong; the check runs again when you stop."
		return []transcript.Message{transcript.UserText(text)}, nil
	}
	return nil, nil
}

// complaint begins the message that sends the agent back.
func complaint(check string) string {
	return fmt.Sprintf("The check %q failed. Its output:\n\n", check)
}

// Restore takes off the rounds that an earlier process has used: texts are the
// user messages of the history.
func (c *Checks) Restore(texts []string) {
	for _, text := range texts {
		for i := range c.list {
			if strings.HasPrefix(text, complaint(c.list[i].Name)) && c.left[i] > 0 {
				c.left[i]--
				c.results[i].Rounds++
			}
		}
	}
}
