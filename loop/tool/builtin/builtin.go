// Package builtin has the tools that turnlog brings: one file each, and one
// line each in the table.
package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Table lists built-in tools, each by the function that makes it. All that is
// to be known of one stands on what the function returns; nothing else names
// it. A nil table is All.
type Table []func(tool.Options) loop.Tool

// All is the table, in the order in which tools are listed.
func All() Table {
	return Table{
		read,
		write,
		edit,
		ls,
		find,
		grep,
		bash,
	}
}

func (t Table) rows() Table {
	if t == nil {
		return All()
	}
	return t
}

// Facts are the tools as they are declared. They are to be looked at; New
// makes one that runs.
func (t Table) Facts() []loop.Tool {
	var facts []loop.Tool
	for _, build := range t.rows() {
		facts = append(facts, build(tool.Options{}.WithDefaults()))
	}
	return facts
}

// Names lists the names of the tools.
func (t Table) Names() []string {
	var names []string
	for _, f := range t.Facts() {
		names = append(names, f.Name)
	}
	return names
}

// New makes a tool. An unknown name is an error that lists the known ones; so
// is a working directory that is not there.
func (t Table) New(name string, o tool.Options) (loop.Tool, error) {
	names := t.Names()
	i := slices.Index(names, name)
	if i < 0 {
		return loop.Tool{}, fmt.Errorf("no built-in tool is called %q; there are %s", name, strings.Join(names, ", "))
	}
	o, err := o.Ready()
	if err != nil {
		return loop.Tool{}, err
	}
	made := t.rows()[i](o)
	made.Sequential = o.Sequential
	return made, nil
}

// declared is what the model is told of a tool.
func declared(name, description, parameters string) transcript.Tool {
	return transcript.Tool{Name: name, Description: description, Parameters: json.RawMessage(parameters)}
}

// runner is what runs a call, as [loop.Tool] has it.
type runner = func(context.Context, transcript.Call, func(loop.Result)) (loop.Result, error)

// inside makes a runner of what works in the working directory.
func inside[T any](o tool.Options, work func(*workdir, context.Context, T) (loop.Result, error)) runner {
	return func(ctx context.Context, call transcript.Call, _ func(loop.Result)) (loop.Result, error) {
		args, err := arguments[T](call)
		if err != nil {
			return loop.Result{}, err
		}
		w, err := openWorkdir(o)
		if err != nil {
			return loop.Result{}, err
		}
		defer w.close()
		return work(w, ctx, args)
	}
}

// arguments decodes validated arguments. The schemas of built-ins have no room
// for other keys, which encoding/json would match to fields regardless of
// case: {"path": "a", "PATH": "b"} is b.
func arguments[T any](call transcript.Call) (T, error) {
	var args T
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return args, fmt.Errorf("read arguments of %s: %w", call.Name, err)
	}
	return args, nil
}

// whole is an integer argument. JSON Schema counts 5.0 as one; an int of
// encoding/json does not.
type whole float64

// or is the number, or the usual one if none was given.
func (n whole) or(usual int) int { return cmp.Or(int(min(n, math.MaxInt32)), usual) }
