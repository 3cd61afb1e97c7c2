package loop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// playScenario runs a scenario and returns its record in the form of a golden.
func playScenario(t testing.TB, sc *scenario, old bool) object {
	r := newRecorder(t, sc)
	responses, err := scripted.Parse(sc.Responses)
	if err != nil {
		t.Fatal(err)
	}
	numberCalls(responses)
	script := scripted.New(responses)
	script.Seek(0) // the scenario's own messages used up nothing
	pool, order := r.pool()
	pick := func(keys []string) []loop.Tool {
		tools := []loop.Tool{}
		for _, k := range keys {
			tool, ok := pool[k]
			if !ok {
				t.Errorf("unknown tool key %s", k)
			}
			tools = append(tools, tool)
		}
		return tools
	}
	active := order
	if sc.ActiveTools != nil {
		active = *sc.ActiveTools
	}
	model := &modelRef{}
	if sc.Model != nil {
		model = sc.Model
	}
	c := loop.Config{
		Model: &recordedModel{r, script, old}, ModelRef: *ref(model), Thinking: sc.ThinkingLevel,
		Tools: pick(active), Execution: loop.Execution(sc.ToolExecution), Emit: r.emit,
	}
	if old {
		c.SteeringMode = loop.SkipRemaining
	}
	r.install(&c, pick, old)
	record := object{"name": sc.Name}
	if sc.Entry == "agent" {
		r.playAgent(c, pick, record)
	} else {
		r.playRun(c, old, record)
	}
	r.summarise(record, script.Left())
	return record
}

// numberCalls gives every call of a script its place, see recorder.order.
func numberCalls(responses []scripted.Response) {
	n := 0
	for _, r := range responses {
		for _, b := range r.Content {
			if b.Call != nil {
				n++
				b.Call.Column = n
			}
		}
	}
}

// playRun plays a run of the low-level loop.
func (r *recorder) playRun(c loop.Config, old bool, record object) {
	c.Steering = r.poll("steering", r.sc.Steering, r.steering)
	c.FollowUp = r.poll("followUp", r.sc.FollowUps, r.followUp)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.abort = cancel
	var s replay.State
	if old {
		s.Append(oldPrompt(r.sc.SystemPrompt, c.Tools))
	}
	for _, m := range r.sc.Messages {
		s.Append(m)
	}
	var outcome loop.Outcome
	var err error
	if r.sc.Entry == "continue" {
		outcome, err = loop.Resume(ctx, c, &s)
	} else {
		outcome, err = loop.Run(ctx, c, &s, r.sc.Prompts...)
	}
	record["newMessages"] = encodedAll(r.t, outcome.New)
	record["queued"] = object{
		"steering": encodedAll(r.t, r.steering.Messages()), "followUp": encodedAll(r.t, r.followUp.Messages()),
	}
	answer := new(loop.AnswerError)
	switch {
	case err != nil:
		record["error"] = err.Error()
	case outcome.Err != nil && !errors.As(outcome.Err, &answer):
		record["error"] = outcome.Err.Error()
	}
	if old && err != nil {
		r.t.Errorf("run: %v", err)
	}
}

// oldPrompt is the system message that stands for what the older loop keeps
// beside the messages.
func oldPrompt(prompt string, tools []loop.Tool) transcript.Message {
	m := transcript.Message{Role: transcript.System, Form: transcript.FormString}
	if prompt != "" {
		m.Content = []transcript.Block{transcript.TextBlock(prompt)}
	}
	for _, t := range tools {
		m.ToolsAdded = append(m.ToolsAdded, t.Tool)
	}
	return m
}

// playAgent plays a script of operations on an agent.
func (r *recorder) playAgent(c loop.Config, pick func([]string) []loop.Tool, record object) {
	emit := c.Emit
	c.Emit = nil
	a := loop.NewAgent(c, loop.AgentOptions{
		SystemPrompt: r.sc.SystemPrompt, Messages: r.sc.Messages,
		SteeringQueue: loop.QueueMode(r.sc.SteeringMode), FollowUpQueue: loop.QueueMode(r.sc.FollowUpMode),
	})
	r.agent = a
	a.Watch(r.watch)
	a.Subscribe(func(_ context.Context, e loop.Event) error { return emit(e) })
	r.runOp = func(o op, nested bool) {
		entry := object{"op": o.Op}
		if nested {
			entry["nested"] = true
		} else {
			r.note(object{"op": o.Op})
		}
		r.mu.Lock()
		r.ops = append(r.ops, entry)
		r.mu.Unlock()
		if err := operate(a, o, pick); err != nil {
			r.amend(entry, "error", err.Error())
		}
	}
	for _, o := range r.sc.Script {
		r.runOp(o, false)
	}
	state := a.State()
	names, pending := []any{}, []any{}
	for _, t := range state.Tools {
		names = append(names, t.Name)
	}
	for _, id := range state.PendingCalls {
		pending = append(pending, id)
	}
	var s replay.State
	for _, m := range state.Messages {
		s.Append(m)
	}
	final := object{
		"messages": encodedAll(r.t, state.Messages), "systemPrompt": s.SystemPrompt(), "tools": names,
		"isStreaming": state.Running, "pendingToolCalls": pending,
	}
	if state.Error != "" {
		final["errorMessage"] = state.Error
	}
	record["state"] = final
	steering, followUp := a.Queued()
	record["queued"] = object{"steering": encodedAll(r.t, steering), "followUp": encodedAll(r.t, followUp)}
	ops := []any{}
	for _, o := range r.ops {
		ops = append(ops, o)
	}
	record["ops"] = ops
}

// operate does what an op says.
func operate(a *loop.Agent, o op, pick func([]string) []loop.Tool) error {
	var err error
	switch o.Op {
	case "prompt":
		prompts := o.Messages
		if o.Text != nil {
			prompts = []transcript.Message{transcript.UserText(*o.Text)}
		}
		_, err = a.Prompt(context.Background(), prompts...)
	case "continue":
		_, err = a.Continue(context.Background())
	case "steer":
		a.Steer(o.Messages...)
	case "followUp":
		a.FollowUp(o.Messages...)
	case "setTools":
		a.SetTools(pick(o.Tools))
	case "setModel":
		a.SetModel(nil, *ref(o.Model))
	case "setMessages":
		a.SetMessages(o.Messages)
	case "clearQueues":
		a.ClearQueues()
	case "reset":
		err = a.Reset()
	case "abort":
		a.Abort()
	default:
		err = fmt.Errorf("unknown op %s", o.Op)
	}
	return err
}

// summarise adds what every record has.
func (r *recorder) summarise(record object, unused int) {
	trace := []any{}
	for _, e := range r.trace {
		trace = append(trace, e)
	}
	record["trace"] = trace
	record["events"] = append([]any{}, r.events...)
	record["requests"] = append([]any{}, r.requests...)
	record["toolRuns"] = object{"started": append([]any{}, r.started...), "finished": append([]any{}, r.finished...)}
	unfired := 0
	for _, a := range r.triggers {
		if a.seen < a.nth {
			unfired++
		}
	}
	if unfired > 0 {
		record["unfiredTriggers"] = unfired
	}
	if unused > 0 {
		record["unusedResponses"] = unused
	}
}
