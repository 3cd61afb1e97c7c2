package batch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// settledBody is what agent_settled says.
type settledBody struct {
	Aborted bool `json:"aborted"`
}

// run plays the task's prompt i.
func (a *attempt) run(ctx context.Context, i int) error {
	return a.playRun(ctx, false, func(c loop.Config) (loop.Outcome, error) {
		return loop.Run(ctx, c, a.history, a.prompt(i)...)
	})
}

// playRun plays one run from its turnlog.run to its seal. The error is one of the
// journal or the sink; what goes wrong with the agent is in the task's status.
func (a *attempt) playRun(ctx context.Context, resumed bool, play func(loop.Config) (loop.Outcome, error)) error {
	id, err := a.beginRun(resumed)
	if err != nil {
		return err
	}
	a.stream.begin(id)
	defer a.stream.begin("")
	out, runErr := play(a.config(id))
	a.judge(ctx, out, runErr)
	a.last = lastText(a.history.Messages())
	sealErr := a.seal(id, out)
	showErr := a.stream.own(AgentSettled, settledBody{Aborted: ctx.Err() != nil})
	return errors.Join(sealErr, showErr)
}

// prompt is what a run begins with: the first one says the system prompt too.
func (a *attempt) prompt(i int) []transcript.Message {
	user := transcript.UserText(a.task.Prompts[i])
	if a.task.System == "" || a.history.SystemPrompt() != "" {
		return []transcript.Message{user}
	}
	system := transcript.Message{
		Role: transcript.System, Form: transcript.FormString,
		Content: []transcript.Block{transcript.TextBlock(a.task.System)},
	}
	return []transcript.Message{system, user}
}

// beginRun writes who runs what. The first run of a file also says the model
// and the thinking level, where pi does.
func (a *attempt) beginRun(resumed bool) (id string, err error) {
	a.runs++
	a.sealed = false
	id = fmt.Sprintf("r%d", a.runs)
	m := &a.task.Model
	host, _ := os.Hostname() // unknown is fine: it only helps people
	err = a.note(transcript.CustomRun, transcript.Run{
		Run: id, Session: a.journal.Session(), Task: a.task.ID, TaskDigest: a.task.Digest(),
		Model: modelName(m), Provider: m.Provider, BaseURL: provider.BaseURL(m), Params: m.Params,
		ToolExecution: cmp.Or(a.task.Execution.Mode, task.Parallel), Resumed: resumed,
		PID: os.Getpid(), Host: host,
	})
	ref := replay.ModelRef{Provider: m.Provider, ID: modelName(m)}
	if err != nil || a.history.Model() == ref {
		return id, err
	}
	if err := a.append(&transcript.Entry{
		Type:  transcript.TypeModelChange,
		Model: &transcript.ModelChange{Provider: ref.Provider, ModelID: ref.ID},
	}); err != nil {
		return id, err
	}
	return id, a.append(&transcript.Entry{Type: transcript.TypeThinking, Thinking: cmp.Or(m.Thinking, "off")})
}

// note appends an entry of turnlog's own.
func (a *attempt) note(kind string, data any) error {
	c, err := transcript.NewCustom(kind, data)
	if err != nil {
		return err
	}
	return a.append(&transcript.Entry{Type: transcript.TypeCustom, Custom: c})
}

// judge gives the task its status after a run, unless a policy did already.
func (a *attempt) judge(ctx context.Context, out loop.Outcome, err error) {
	switch {
	case err != nil:
		a.fail(ctx, err)
	case a.aborted(ctx):
	case out.Err != nil:
		a.unanswered = true
		a.stop.Set(policy.Error, out.Err.Error())
	case out.Reason == transcript.StopLength:
		a.stop.Set(policy.Limit, "the last answer hit the output token limit")
	case isEmpty(a.history.Messages()):
		a.stop.Set(policy.NoOutput, "the last answer is empty")
	}
}

// isEmpty reports whether the last answer says nothing and calls nothing: the
// silence of a model is not a job that was done.
func isEmpty(ms []transcript.Message) bool {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == transcript.Assistant {
			return ms[i].Text() == "" && len(ms[i].Calls()) == 0
		}
	}
	return true
}

// lastText is the text of the last answer.
func lastText(ms []transcript.Message) string {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == transcript.Assistant {
			return ms[i].Text()
		}
	}
	return ""
}

// seal ends a run in the transcript: nothing before it can be changed after
// without breaking its digest.
func (a *attempt) seal(run string, out loop.Outcome) error {
	status, reason := a.stop.Status()
	u := a.history.Usage()
	usage, err := json.Marshal(usageOf(u))
	if err != nil {
		return fmt.Errorf("encode the usage: %w", err)
	}
	e := &transcript.Entry{Type: transcript.TypeCustom}
	a.link(e)
	end := transcript.End{
		Run: run, Session: a.journal.Session(), Status: string(cmp.Or(status, policy.OK)), Reason: reason,
		Turns: out.Turns, Usage: usage,
	}
	if _, err := a.journal.Seal(e, end); err != nil {
		return err
	}
	a.sealed, a.leaf = true, e.ID
	a.history.Apply(e)
	return nil
}

// modelName is what a model is called in requests: a scripted one needs no
// name.
func modelName(m *task.Model) string { return cmp.Or(m.Name, m.Label, m.Provider) }
