package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/builtin"
	"github.com/turnlog/turnlog/loop/tool/mcp"
	"github.com/turnlog/turnlog/loop/tool/process"
	"github.com/turnlog/turnlog/replay/transcript"
)

// toolkit makes the tools of one attempt and closes what they hold.
type toolkit struct {
	task     *task.Task
	builtins builtin.Table
	override func(*task.Task, []task.Tool) ([]loop.Tool, error) // for tests
	servers  []*mcp.Server
	notes    []string // what a person should know: servers that are not there
}

// tools makes tools of a list, in its order.
func (k *toolkit) tools(ctx context.Context, list []task.Tool) ([]loop.Tool, error) {
	if k.override != nil {
		return k.override(k.task, list)
	}
	var tools []loop.Tool
	for _, item := range list {
		made, err := k.one(ctx, item)
		if err != nil {
			return nil, fmt.Errorf("%s:%d:%d: %w", k.task.File, item.Place.Line, item.Place.Column, err)
		}
		tools = append(tools, made...)
	}
	return tools, tool.Distinct(tools)
}

func (k *toolkit) options() tool.Options {
	return tool.Options{Dir: k.task.Path(k.task.Workdir), AllowEnv: k.task.Permissions.Env}
}

func (k *toolkit) one(ctx context.Context, item task.Tool) ([]loop.Tool, error) {
	o := k.options()
	switch {
	case item.Builtin != nil:
		b := item.Builtin
		o.Timeout, o.MaxOutput, o.Sequential = b.Timeout, b.MaxOutput, b.Sequential
		t, err := k.builtins.New(b.Name, o)
		return []loop.Tool{t}, err
	case item.Program != nil:
		p := item.Program
		o.Timeout, o.MaxOutput, o.Sequential = p.Timeout, p.MaxOutput, p.Sequential
		t, err := process.NewProgram(process.Program{
			Name: p.Name, Description: p.Description, Parameters: p.Parameters,
			Argv: k.task.Argv(p.Run), Effects: loop.Effects(p.Effects), Paths: p.Paths,
		}, o)
		return []loop.Tool{t}, err
	case item.MCP != nil:
		return k.connect(ctx, item.MCP, o)
	}
	return nil, errors.New("a tool without a kind")
}

// connect starts or reaches a server. One that is not required may be absent.
func (k *toolkit) connect(ctx context.Context, m *task.MCP, o tool.Options) ([]loop.Tool, error) {
	o.Timeout = m.Timeout
	o.AllowEnv = append(o.AllowEnv[:len(o.AllowEnv):len(o.AllowEnv)], m.Env...)
	s, err := mcp.Connect(ctx, mcp.Config{
		Name: m.Server, Command: k.task.Argv(m.Command), URL: m.URL, HeadersEnv: m.HeadersEnv,
		Tools: m.Tools, Effects: loop.Effects(m.Effects), Paths: m.Paths,
	}, o)
	switch {
	case err == nil:
		k.servers = append(k.servers, s)
		k.notes = append(k.notes, s.Warnings()...)
		return s.Tools(), nil
	case m.Required || ctx.Err() != nil:
		return nil, err
	}
	k.notes = append(k.notes, fmt.Sprintf("server %s is not there, the run goes on without its tools: %v", m.Server, err))
	return nil, nil
}

func (k *toolkit) close() error {
	var errs []error
	for _, s := range k.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// program runs a program of the task, as checks and assertions do: where its
// tools work, with their environment.
func (k *toolkit) program(ctx context.Context, argv []string, timeout time.Duration) (output string, ok bool) {
	o := k.options()
	o.Timeout = timeout
	t, err := process.NewProgram(process.Program{Name: argv[0], Argv: k.task.Argv(argv)}, o)
	if err != nil {
		return err.Error(), false
	}
	res, err := t.Run(ctx, transcript.Call{Name: argv[0], Arguments: []byte("{}")}, func(loop.Result) {})
	if err != nil {
		return err.Error(), false
	}
	said := transcript.Message{Content: res.Content}
	return said.Text(), !res.IsError
}
