package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
)

// ToolSet is the executable tools of a task as its changes leave them. The
// loop declares each change before the next request.
type ToolSet struct {
	all     []loop.Tool
	current []loop.Tool
	waiting []ToolChange
	servers []Server
	seen    progress
}

// Server is a source of tools that may change its list.
type Server interface {
	Name() string
	Changed() bool
	Refresh(context.Context) error
	Tools() []loop.Tool
}

// ToolChange is a change whose tools are ready to run.
type ToolChange struct {
	When   task.When
	Add    []loop.Tool
	Remove []string // names; a name that ends in * stands for all that begin so
}

// NewToolSet starts with tools.
func NewToolSet(tools []loop.Tool, changes []ToolChange) *ToolSet {
	all := slices.Clone(tools)
	for _, c := range changes {
		all = append(all, c.Add...)
	}
	return &ToolSet{all: all, current: tools, waiting: slices.Clone(changes)}
}

// Follow takes over the list of a server whenever it changes. The loop declares
// the difference before the next request; calls of what is gone are answered
// with an error.
func (s *ToolSet) Follow(server Server) { s.servers = append(s.servers, server) }

// Current returns the tools that a run has now.
func (s *ToolSet) Current() []loop.Tool { s.apply(); return s.current }

// All returns the tools that a run has at some time, as far as is known before
// it: a server may come to have others.
func (s *ToolSet) All() []loop.Tool { return s.all }

// Policy returns the seams.
func (s *ToolSet) Policy() Policy {
	return Policy{
		Observe: func(e loop.Event) { s.seen.observe(e) },
		PrepareNextTurn: func(ctx context.Context, _ loop.Turn) (loop.TurnUpdate, error) {
			refreshed := s.refresh(ctx)
			if !s.apply() && !refreshed {
				return loop.TurnUpdate{}, nil
			}
			return loop.TurnUpdate{Tools: s.current}, nil
		},
	}
}

// refresh asks the servers that announced another list for it. One that does
// not answer keeps the list it had: its calls will say what is wrong.
func (s *ToolSet) refresh(ctx context.Context) (changed bool) {
	for _, server := range s.servers {
		if !server.Changed() || server.Refresh(ctx) != nil {
			continue
		}
		change := ToolChange{Add: server.Tools(), Remove: []string{"mcp__" + server.Name() + "__*"}}
		s.current, changed = changeTools(s.current, change), true
	}
	return changed
}

// Restore counts the turns and the tool results that were before this process.
func (s *ToolSet) Restore(turns int, results []string) { s.seen.restore(turns, results) }

// apply makes the changes whose moment has come.
func (s *ToolSet) apply() (changed bool) {
	s.waiting = slices.DeleteFunc(s.waiting, func(c ToolChange) bool {
		if !s.seen.reached(c.When) {
			return false
		}
		s.current = changeTools(s.current, c)
		changed = true
		return true
	})
	return changed
}

// changeTools gives a list of its own: the loop keeps the one it has.
func changeTools(tools []loop.Tool, c ToolChange) []loop.Tool {
	out := make([]loop.Tool, 0, len(tools)+len(c.Add))
	for _, t := range tools {
		gone := slices.ContainsFunc(c.Remove, func(name string) bool { return matchName(name, t.Name) })
		replaced := slices.ContainsFunc(c.Add, func(a loop.Tool) bool { return a.Name == t.Name })
		if !gone && !replaced {
			out = append(out, t)
		}
	}
	return append(out, c.Add...)
}

// matchName compares a name with a pattern that may end in *.
func matchName(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}
