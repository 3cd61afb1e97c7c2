// Package provider makes the model that a task names.
package provider

import (
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/loop/task"
)

// Provider is a row of the table of providers.
type Provider struct {
	Name string
	New  func(*Pool, *task.Task) (loop.Model, error)
}

// Table lists the providers. A provider is added here and nowhere else.
func Table() []Provider {
	return []Provider{
		{task.Scripted, newScripted},
	}
}

// Names lists the providers by name.
func Names() []string {
	var names []string
	for _, p := range Table() {
		names = append(names, p.Name)
	}
	return names
}

// Pool is what the models of one process share.
type Pool struct{}

// New makes the model of a task. The endpoint is not contacted.
func (p *Pool) New(t *task.Task) (loop.Model, error) {
	for _, row := range Table() {
		if row.Name == t.Model.Provider {
			return row.New(p, t)
		}
	}
	return nil, fmt.Errorf("unknown provider %q; there are %s", t.Model.Provider, strings.Join(Names(), ", "))
}

func newScripted(_ *Pool, t *task.Task) (loop.Model, error) {
	responses, err := scripted.Parse(t.Model.Responses)
	if err != nil {
		return nil, err
	}
	return scripted.New(responses), nil
}
