package policy

import (
	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
)

// progress counts what the moments of a task file refer to: turns and results
// of tools, over all runs of the task.
type progress struct {
	turns   int
	results map[string]int
}

// observe reports whether e moved something.
func (p *progress) observe(e loop.Event) bool {
	switch e.Type {
	case loop.TurnEnd:
		p.turns++
	case loop.ToolExecutionEnd:
		p.result(e.Call.Name)
	default:
		return false
	}
	return true
}

func (p *progress) result(tool string) {
	if p.results == nil {
		p.results = map[string]int{}
	}
	p.results[tool]++
}

// restore counts what was before this process.
func (p *progress) restore(turns int, results []string) {
	p.turns += turns
	for _, tool := range results {
		p.result(tool)
	}
}

// reached reports whether a moment has come. The zero moment is the start.
func (p *progress) reached(w task.When) bool {
	if w.AfterTool != "" {
		return p.results[w.AfterTool] >= max(w.Nth, 1)
	}
	return p.turns >= w.AfterTurn
}
