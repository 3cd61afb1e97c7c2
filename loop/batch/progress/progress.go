// Package progress shows people what a batch is doing while its events go
// elsewhere: as a block of lines that is drawn over and over on a terminal, or
// as plain lines.
//
// Both are sinks of events that never fail: a run does not end because nobody
// could watch it.
package progress

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/replay/transcript"
)

// state is what is known about the batch.
type state struct {
	mu      sync.Mutex
	began   time.Time
	total   int // tasks
	done    int
	failed  int
	tokens  int64 // of tasks that ended
	usd     float64
	running []*row // in the order in which they started
}

// row is a task under way.
type row struct {
	task   string
	began  time.Time
	turn   int
	tools  []running
	tokens int64
	usd    float64
	retry  bool // waiting to ask again
}

type running struct{ id, name string }

// apply takes in one event, and reports whether it begins or ends something
// that people wait for. The caller holds the lock.
func (s *state) apply(e *batch.Event, now time.Time) (notable bool) {
	switch e.Type {
	case batch.BatchStart:
		var start struct{ Tasks, Kept []string }
		_ = e.Decode(&start) // what cannot be read is not shown
		s.began, s.total, s.done = now, len(start.Tasks), len(start.Kept)
	case batch.TaskStart, batch.TaskRetry:
		s.drop(e.Task)
		s.running = append(s.running, &row{task: e.Task, began: now})
	case batch.TaskEnd:
		s.ended(e)
	default:
		r := s.row(e.Task)
		return r != nil && e.Loop != nil && r.apply(e.Loop)
	}
	return true
}

func (s *state) row(task string) *row {
	if i := slices.IndexFunc(s.running, func(r *row) bool { return r.task == task }); i >= 0 {
		return s.running[i]
	}
	return nil
}

func (s *state) drop(task string) {
	s.running = slices.DeleteFunc(s.running, func(r *row) bool { return r.task == task })
}

func (s *state) ended(e *batch.Event) {
	s.drop(e.Task)
	s.done++
	res, ok := e.Body.(results.Result)
	if !ok {
		return
	}
	s.tokens += res.Usage.TotalTokens
	s.usd += res.CostUSD
	if res.ExitCode != 0 {
		s.failed++
	}
}

// used is what all tasks have used so far.
func (s *state) used() (tokens int64, usd float64) {
	tokens, usd = s.tokens, s.usd
	for _, r := range s.running {
		tokens += r.tokens
		usd += r.usd
	}
	return tokens, usd
}

func (r *row) apply(e *loop.Event) (notable bool) {
	switch e.Type {
	case loop.TurnStart:
		r.turn++
	case loop.AutoRetryStart, loop.AutoRetryEnd:
		r.retry = e.Type == loop.AutoRetryStart
	case loop.ToolExecutionStart:
		r.tools = append(r.tools, running{e.Call.ID, e.Call.Name})
	case loop.ToolExecutionEnd:
		r.tools = slices.DeleteFunc(r.tools, func(t running) bool { return t.id == e.Call.ID })
	case loop.MessageEnd:
		if u := e.Message.Usage; e.Message.Role == transcript.Assistant && u != nil {
			r.tokens += cmp.Or(u.TotalTokens, u.Input+u.Output)
			r.usd += u.Cost.Total
		}
	default:
		return false
	}
	return true
}

// doing is what a task is at.
func (r *row) doing() string {
	switch {
	case r.retry:
		return "waits to ask again"
	case len(r.tools) == 1:
		return r.tools[0].name
	case len(r.tools) > 1:
		return r.tools[len(r.tools)-1].name + " and others"
	case r.turn == 0:
		return "starts"
	}
	return "thinks"
}
