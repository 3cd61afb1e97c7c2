package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/loop/tool/builtin"
	"github.com/turnlog/turnlog/loop/tool/mcp"
	"github.com/turnlog/turnlog/loop/tool/process"
	"github.com/turnlog/turnlog/replay/transcript"
)

// newModel makes the model of a task. hold hears when its requests wait.
func (b *batch) newModel(t *task.Task, hold provider.Hold) (loop.Model, error) {
	if b.o.Model != nil {
		return b.o.Model(t)
	}
	return b.pool.New(t, hold)
}

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
	var text []string
	for i := range res.Content {
		text = append(text, res.Content[i].Text)
	}
	return strings.Join(text, "\n"), !res.IsError
}

// program is toolkit.program while the idle clock waits.
func (a *attempt) program(ctx context.Context, argv []string, timeout time.Duration) (output string, ok bool) {
	defer a.clock.Hold()()
	return a.kit.program(ctx, argv, timeout)
}

// equip makes the tools and the policies of an attempt.
func (a *attempt) equip(ctx context.Context) error {
	defer a.clock.Hold()() // a server may take its time to start
	t := a.task
	tools, err := a.kit.tools(ctx, t.Tools)
	if err != nil {
		return fmt.Errorf("set up the tools: %w", err)
	}
	if t.Finish.Output != nil {
		if a.output, err = policy.NewOutput(*t.Finish.Output, &a.stop); err != nil {
			return err
		}
		tools = append(tools, a.output.Tools()...)
	}
	var changes []policy.ToolChange
	for _, c := range t.ToolChanges {
		added, err := a.kit.tools(ctx, c.Add)
		if err != nil {
			return fmt.Errorf("set up the tools of a change: %w", err)
		}
		changes = append(changes, policy.ToolChange{When: c.When, Add: added, Remove: c.Remove})
	}
	if err := tool.Distinct(tools); err != nil {
		return err
	}
	a.tools = policy.NewToolSet(tools, changes)
	for _, s := range a.kit.servers {
		a.tools.Follow(s)
	}
	a.permissions = policy.NewPermissions(t.Permissions, t.Path(t.Workdir), &a.stop)
	a.repeated = policy.NewRepeatedCalls(t.Finish.Limits.RepeatedCall, &a.stop)
	a.conversation = policy.NewConversation(t.Steering, t.FollowUps)
	a.checks = policy.NewChecks(t.Finish.Checks, a.program, &a.stop)
	a.limiter = policy.NewLimiter(a.limits(), a.account(), &a.stop, a.b.ledger)
	if a.b.ledger != nil {
		a.b.ledger.Charge(a.limiter.Used()) // by earlier processes
	}
	a.seams = a.policies()
	return nil
}

// limits are those of the task, with its model's price.
func (a *attempt) limits() policy.Limits {
	f := &a.task.Finish
	l := policy.Limits{Limits: f.Limits, WrapUp: f.OnLimit == task.OnLimitWrapUp, MaxTokens: maxTokens(&a.task.Model)}
	if p := a.task.Model.Price; p != nil {
		l.Price = *p
	}
	if a.output != nil {
		l.WrapTools = a.output.Tools()
	}
	return l
}

// account is what the history has used already.
func (a *attempt) account() policy.Account {
	return policy.Account{Turns: a.history.Turn(), ToolCalls: a.calls, Usage: a.history.Usage()}
}

// policies are the seams of the task, in the order in which they are asked.
func (a *attempt) policies() []policy.Policy {
	limits := a.limiter.Policy()
	reserve := limits.PrepareRequest
	limits.PrepareRequest = func(ctx context.Context, r loop.RequestInfo) (loop.RequestUpdate, error) {
		defer a.clock.Hold()()
		return reserve(ctx, r)
	}
	ps := []policy.Policy{
		limits,
		a.clock.Policy(),
		a.permissions.Policy(),
		a.tools.Policy(),
		a.conversation.Policy(),
		a.repeated.Policy(),
	}
	if a.output != nil {
		ps = append(ps, a.output.Policy())
	}
	return append(ps, a.checks.Policy(), a.limiter.WrapUp())
}

// maxTokens is the bound on one answer that the task gives the endpoint.
func maxTokens(m *task.Model) int64 {
	var params struct {
		MaxTokens           int64 `json:"max_tokens"`
		MaxCompletionTokens int64 `json:"max_completion_tokens"`
	}
	if json.Unmarshal(m.Params, &params) != nil {
		return 0
	}
	return cmp.Or(params.MaxCompletionTokens, params.MaxTokens)
}
