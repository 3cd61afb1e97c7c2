package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/session"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool"
	"github.com/turnlog/turnlog/replay/transcript"
)

// newModel makes the model of a task. hold hears when its requests wait.
func (b *batch) newModel(t *task.Task, hold provider.Hold) (loop.Model, error) {
	if b.o.Model != nil {
		return b.o.Model(t)
	}
	return b.pool.New(t, hold)
}

// setup is what a task gives each of its runs: tools and policies. It has none
// before equip; then the limiter, the last of them, is there.
type setup struct {
	task  *task.Task
	kit   toolkit
	stop  *policy.Stop
	clock *policy.Clock

	limiter      *policy.Limiter
	tools        *policy.ToolSet
	permissions  *policy.Permissions
	repeated     *policy.RepeatedCalls
	conversation *policy.Conversation
	output       *policy.Output // nil if no answer is required
	checks       *policy.Checks
}

// equip makes the tools and the policies of an attempt that has used before
// already.
func (s *setup) equip(ctx context.Context, before policy.Account, ledger *policy.Ledger) error {
	defer s.clock.Hold()() // a server may take its time to start
	t := s.task
	tools, err := s.kit.tools(ctx, t.Tools)
	if err != nil {
		return fmt.Errorf("set up the tools: %w", err)
	}
	if t.Finish.Output != nil {
		if s.output, err = policy.NewOutput(*t.Finish.Output, s.stop); err != nil {
			return err
		}
		tools = append(tools, s.output.Tools()...)
	}
	var changes []policy.ToolChange
	for _, c := range t.ToolChanges {
		added, err := s.kit.tools(ctx, c.Add)
		if err != nil {
			return fmt.Errorf("set up the tools of a change: %w", err)
		}
		changes = append(changes, policy.ToolChange{When: c.When, Add: added, Remove: c.Remove})
	}
	if err := tool.Distinct(tools); err != nil {
		return err
	}
	s.tools = policy.NewToolSet(tools, changes)
	for _, server := range s.kit.servers {
		s.tools.Follow(server)
	}
	s.permissions = policy.NewPermissions(t.Permissions, t.Path(t.Workdir), s.stop)
	s.repeated = policy.NewRepeatedCalls(t.Finish.Limits.RepeatedCall, s.stop)
	s.conversation = policy.NewConversation(t.Steering, t.FollowUps)
	s.checks = policy.NewChecks(t.Finish.Checks, s.program, s.stop)
	s.limiter = policy.NewLimiter(s.limits(), before, s.stop, ledger)
	if ledger != nil {
		ledger.Charge(s.limiter.Used()) // by earlier processes
	}
	return nil
}

// limits are those of the task, with its model's price.
func (s *setup) limits() policy.Limits {
	f := &s.task.Finish
	l := policy.Limits{Limits: f.Limits, WrapUp: f.OnLimit == task.OnLimitWrapUp, MaxTokens: maxTokens(&s.task.Model)}
	if p := s.task.Model.Price; p != nil {
		l.Price = *p
	}
	if s.output != nil {
		l.WrapTools = s.output.Tools()
	}
	return l
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

// restore brings the policies to where an earlier process left them.
func (s *setup) restore(p *session.Past, history []transcript.Message) {
	s.conversation.Restore(p.Turns, p.Results, p.Delivered)
	s.tools.Restore(p.Turns, p.Results)
	s.permissions.Restore(s.tools.All(), p.LastCalls(), p.Said)
	s.repeated.Restore(history)
	s.checks.Restore(p.Delivered)
	if s.output != nil {
		s.output.Restore(history)
	}
}

// install gives the loop the tools and the policies, in the order in which
// they are asked.
func (s *setup) install(c *loop.Config) {
	c.Tools = s.tools.Current()
	limits := s.limiter.Policy()
	reserve := limits.PrepareRequest
	limits.PrepareRequest = func(ctx context.Context, r loop.RequestInfo) (loop.RequestUpdate, error) {
		defer s.clock.Hold()()
		return reserve(ctx, r)
	}
	ps := []policy.Policy{
		limits,
		s.clock.Policy(),
		s.permissions.Policy(),
		s.tools.Policy(),
		s.conversation.Policy(),
		s.repeated.Policy(),
	}
	if s.output != nil {
		ps = append(ps, s.output.Policy())
	}
	policy.Install(c, append(ps, s.checks.Policy(), s.limiter.WrapUp())...)
	c.Steering, c.FollowUp = s.limiter.Gate(c.Steering), s.limiter.Gate(c.FollowUp)
}

// final says that the run that comes is the last one.
func (s *setup) final() {
	s.checks.Final()
	if s.output != nil {
		s.output.Final()
	}
}

// program runs a program of the task while the idle clock waits.
func (s *setup) program(ctx context.Context, argv []string, timeout time.Duration) (output string, ok bool) {
	defer s.clock.Hold()()
	return s.kit.program(ctx, argv, timeout)
}

// answer is the required one, nil if there is none.
func (s *setup) answer() json.RawMessage {
	if s.output == nil {
		return nil
	}
	return s.output.Answer()
}

// costUSD is what the answers of the whole history cost.
func (s *setup) costUSD() float64 {
	if s.limiter == nil {
		return 0
	}
	return s.limiter.Used().USD
}

// close gives back what the set-up held.
func (s *setup) close() error {
	s.clock.Stop()
	if s.limiter != nil {
		s.limiter.Close()
	}
	return s.kit.close()
}
