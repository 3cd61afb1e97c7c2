package progress

import (
	"fmt"
	"io"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/replay/text"
)

// Lines is progress where nothing can be drawn over: a plain line when a task
// starts, at each of its turns, and when it ends.
type Lines struct {
	W   io.Writer
	Now func() time.Time // nil is the wall clock

	state
}

// Event implements [batch.Sink]. It never fails.
func (l *Lines) Event(e *batch.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	at := now()
	r := l.row(e.Task)
	l.apply(e, at)
	if line := l.line(e, r, at); line != "" {
		_, _ = fmt.Fprintf(l.W, "turnlog: %s\n", line) // nobody watches: the run goes on
	}
	return nil
}

// line is what an event has to say; r is its task as it was before.
func (l *Lines) line(e *batch.Event, r *row, now time.Time) string {
	task := text.Printable(e.Task)
	switch {
	case e.Type == batch.TaskStart:
		return task + "  starts"
	case e.Type == batch.TaskRetry:
		return task + "  starts again"
	case e.Type == batch.TaskEnd:
		res, _ := e.Body.(results.Result)
		took := time.Duration(res.DurationMs) * time.Millisecond
		return fmt.Sprintf("%s  %s  %s  %s  (%s)", task, res.Status, spent(res.Usage.TotalTokens, res.CostUSD), clock(took), l.head(now))
	case r != nil && e.Loop != nil && (e.Loop.Type == loop.TurnStart || e.Loop.Type == loop.ToolExecutionStart):
		return r.line(now)
	}
	return ""
}
