// Package results is how the tasks of a batch ended, and the file that keeps
// it: a line as each task ends, so that a crash of the batch loses no finished
// task.
package results

import (
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Result is how one task ended, as its line in the results file and as the
// fields of task_end.
type Result struct {
	ID         string        `json:"id"`
	Status     policy.Status `json:"status"`
	Reason     string        `json:"reason,omitempty"`
	ExitCode   int           `json:"exitCode"`
	Attempt    int           `json:"attempt"` // 1, then one more per retry of the task
	Turns      int           `json:"turns"`
	ToolCalls  int           `json:"toolCalls"`
	Usage      Usage         `json:"usage"`
	CostUSD    float64       `json:"costUsd"`
	DurationMs int64         `json:"durationMs"`
	Transcript string        `json:"transcript,omitempty"` // path, relative to the output folder
	Digest     string        `json:"digest,omitempty"`     // of the transcript, all of its bytes
	TaskDigest string        `json:"taskDigest,omitempty"` // of the resolved task
	File       string        `json:"file,omitempty"`       // the task file

	Labels map[string]string `json:"labels,omitempty"` // of the task file; encoded in order of their names

	Assertions []Assertion `json:"assertions,omitempty"`

	Answer string `json:"-"` // the required answer, or the text of the last one
}

// New is a result with what is known beside how the task ran.
func New(t *task.Task, status policy.Status) Result {
	return Result{
		ID: t.ID, Status: status, ExitCode: status.ExitCode(),
		TaskDigest: t.Digest(), File: t.File, Labels: t.Labels,
	}
}

// Assertion is how one line of a task's assert section, or one check, went.
type Assertion struct {
	Name     string `json:"name"`
	Line     int    `json:"line,omitempty"` // in the task file
	OK       bool   `json:"ok"`
	Severity string `json:"severity,omitempty"` // warning: does not fail the task
	Message  string `json:"message,omitempty"`
}

// Fails reports whether the assertion fails its task.
func (a *Assertion) Fails() bool { return !a.OK && a.Severity != task.SeverityWarning }

// Usage is what the model's answers of a task, or of a batch, used.
type Usage struct {
	Input       int64 `json:"input"`
	Output      int64 `json:"output"`
	CacheRead   int64 `json:"cacheRead"`
	CacheWrite  int64 `json:"cacheWrite"`
	TotalTokens int64 `json:"totalTokens"`
}

// UsageOf takes the counts out of what the fold summed up.
func UsageOf(u transcript.Usage) Usage {
	return Usage{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.TotalTokens}
}

// Add sums up.
func (u *Usage) Add(o Usage) {
	u.Input += o.Input
	u.Output += o.Output
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.TotalTokens += o.TotalTokens
}
