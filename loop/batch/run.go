package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// prompts plays what is left of an interrupted run, and a run for each prompt
// that was not delivered.
func (a *attempt) prompts(ctx context.Context) error {
	next, err := a.resume(ctx)
	for ; err == nil && next < len(a.task.Prompts); next++ {
		if !a.setup.limiter.Room() || ctx.Err() != nil {
			break
		}
		if next == len(a.task.Prompts)-1 {
			a.setup.final()
		}
		err = a.run(ctx, false, func(c loop.Config) (loop.Outcome, error) {
			return loop.Run(ctx, c, a.session.History(), prompt(a.task, next, a.session.History())...)
		})
	}
	return err
}

// prompt is what run i begins with: the first one says the system prompt too.
func prompt(t *task.Task, i int, history *replay.State) []transcript.Message {
	user := transcript.UserText(t.Prompts[i])
	if t.System == "" || history.SystemPrompt() != "" {
		return []transcript.Message{user}
	}
	system := transcript.Message{
		Role: transcript.System, Form: transcript.FormString,
		Content: []transcript.Block{transcript.TextBlock(t.System)},
	}
	return []transcript.Message{system, user}
}

// settledBody is what agent_settled says.
type settledBody struct {
	Aborted bool `json:"aborted"`
}

// run plays one run from its turnlog.run to its seal. The error is one of the
// journal or the sink; what goes wrong with the agent is in the task's status.
func (a *attempt) run(ctx context.Context, resumed bool, play func(loop.Config) (loop.Outcome, error)) error {
	id, err := a.begin(resumed)
	if err != nil {
		return err
	}
	a.stream.begin(id)
	defer a.stream.begin("")
	out, runErr := play(a.config(id))
	a.judge(ctx, out, runErr)
	sealErr := a.seal(id, out.Turns)
	showErr := a.stream.own(AgentSettled, settledBody{Aborted: ctx.Err() != nil})
	return errors.Join(sealErr, showErr)
}

// begin writes who runs what.
func (a *attempt) begin(resumed bool) (id string, err error) {
	m := &a.task.Model
	return a.session.Begin(transcript.Run{
		Task: a.task.ID, TaskDigest: a.task.Digest(),
		Model: modelName(m), Provider: m.Provider, BaseURL: provider.BaseURL(m), Params: m.Params,
		ToolExecution: cmp.Or(a.task.Execution.Mode, task.Parallel), Resumed: resumed,
	}, m.Thinking)
}

// seal writes how a run ended.
func (a *attempt) seal(run string, turns int) error {
	status, reason := a.stop.Status()
	usage, err := json.Marshal(results.UsageOf(a.session.History().Usage()))
	if err != nil {
		return fmt.Errorf("encode the usage: %w", err)
	}
	return a.session.Seal(transcript.End{
		Run: run, Status: string(cmp.Or(status, policy.OK)), Reason: reason, Turns: turns, Usage: usage,
	})
}

// config is what every run of the task gives the loop.
func (a *attempt) config(run string) loop.Config {
	m := &a.task.Model
	c := loop.Config{
		Model:        a.model,
		ModelRef:     replay.ModelRef{Provider: m.Provider, ID: modelName(m)},
		Thinking:     m.Thinking,
		Params:       m.Params,
		Execution:    loop.Execution(a.task.Execution.Mode),
		MaxParallel:  a.task.Execution.MaxParallel,
		SteeringMode: loop.SteeringMode(a.task.Steering.Mode),
		Emit:         a.emit,
		Append:       a.session.Append,
		Now:          a.b.o.Now,
		NewID:        a.session.NewID,
		Run:          run,
	}
	a.setup.install(&c)
	return c
}

// emit shows an event of the loop, and what it changed in the queues.
func (a *attempt) emit(e loop.Event) error {
	if err := a.stream.loop(e); err != nil {
		return err
	}
	if e.Type != loop.MessageUpdate {
		a.heard.changed()
	}
	return nil
}

// judge gives the task its status after a run, unless a policy did already.
func (a *attempt) judge(ctx context.Context, out loop.Outcome, err error) {
	switch {
	case err != nil:
		a.fail(ctx, err)
	case aborted(ctx, &a.stop):
	case out.Err != nil:
		a.unanswered = true
		a.stop.Set(policy.Error, out.Err.Error())
	case out.Reason == transcript.StopLength:
		a.stop.Set(policy.Limit, "the last answer hit the output token limit")
	default:
		// The silence of a model is not a job that was done.
		if m := lastAnswer(a.session.History().Messages()); m.Text() == "" && len(m.Calls()) == 0 {
			a.stop.Set(policy.NoOutput, "the last answer is empty")
		}
	}
}

// lastAnswer is the last message of the model, empty if there is none.
func lastAnswer(ms []transcript.Message) *transcript.Message {
	for i := range slices.Backward(ms) {
		if ms[i].Role == transcript.Assistant {
			return &ms[i]
		}
	}
	return &transcript.Message{}
}

func lastText(ms []transcript.Message) string { return lastAnswer(ms).Text() }

// modelName is what a model is called in requests: a scripted one needs no
// name.
func modelName(m *task.Model) string { return cmp.Or(m.Name, m.Label, m.Provider) }
