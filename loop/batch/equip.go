package batch

import (
	"fmt"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool"
)

// newModel makes the model of a task.
func (b *batch) newModel(t *task.Task) (loop.Model, error) {
	if b.o.Model != nil {
		return b.o.Model(t)
	}
	return b.pool.New(t)
}

// newTools makes tools of a task: those of its start, or those of a change.
func (b *batch) newTools(t *task.Task, list []task.Tool) ([]loop.Tool, error) {
	if b.o.Tools != nil {
		return b.o.Tools(t, list)
	}
	var tools []loop.Tool
	for _, item := range list {
		made, err := newTool(t, item)
		if err != nil {
			return nil, fmt.Errorf("%s:%d:%d: %w", t.File, item.Place.Line, item.Place.Column, err)
		}
		tools = append(tools, made)
	}
	return tools, tool.Distinct(tools)
}

func newTool(t *task.Task, item task.Tool) (loop.Tool, error) {
	o := tool.Options{Dir: t.Path(t.Workdir)}
	switch {
	case item.Builtin != nil:
		o.Timeout, o.MaxOutput, o.Sequential = item.Builtin.Timeout, item.Builtin.MaxOutput, item.Builtin.Sequential
		return tool.New(item.Builtin.Name, o)
	}
	return loop.Tool{}, fmt.Errorf("this kind of tool cannot be used yet")
}
