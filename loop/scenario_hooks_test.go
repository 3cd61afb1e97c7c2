package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// recordedModel notes each request and hands it to the scripted model.
type recordedModel struct {
	r      *recorder
	script loop.Model
	old    bool // of the older loop: prompt and tools stand beside the messages
}

func (m *recordedModel) Stream(ctx context.Context, req replay.Request) iter.Seq2[loop.Delta, error] {
	n := m.r.next("request")
	entry := object{
		"n": n, "model": req.Model.Provider + "/" + req.Model.ID, "thinkingLevel": req.Thinking,
		"aborted": ctx.Err() != nil, "tools": toolNames(req.Messages),
	}
	messages := req.Messages
	if m.old {
		var prompt string
		if len(messages) > 0 && messages[0].Role == transcript.System {
			prompt, messages = messages[0].Text(), messages[1:]
		}
		entry["systemPrompt"] = prompt
	}
	entry["messages"] = encodedAll(m.r.t, messages)
	m.r.mu.Lock()
	m.r.requests = append(m.r.requests, entry)
	m.r.mu.Unlock()
	m.r.note(object{"request": n})
	m.r.fire(object{"request": n})
	return m.script.Stream(ctx, req)
}

// toolNames are the names of the tools that messages declare.
func toolNames(ms []transcript.Message) []any {
	var s replay.State
	for _, m := range ms {
		s.Append(m)
	}
	names := []any{}
	for _, d := range s.Tools() {
		names = append(names, d.Name)
	}
	return names
}

// poll is a queue of the low-level loop.
func (r *recorder) poll(kind string, scripted []delivery, q *loop.Queue) func(context.Context) ([]transcript.Message, error) {
	return func(context.Context) ([]transcript.Message, error) {
		return r.watch(kind, func() []transcript.Message {
			var messages []transcript.Message
			for _, d := range scripted {
				if d.AtPoll != 0 && d.AtPoll == r.counts["poll:"+kind] {
					messages = append(messages, d.Messages...)
				}
			}
			return append(messages, q.Drain()...)
		}), nil
	}
}

// watch records a look at a queue.
func (r *recorder) watch(kind string, drain func() []transcript.Message) []transcript.Message {
	if kind == "follow_up" {
		kind = "followUp"
	}
	n := r.next("poll:" + kind)
	r.fire(object{"poll": kind})
	messages := drain()
	r.note(object{"poll": kind, "n": n, "returned": len(messages)})
	return messages
}

// install puts the scenario's seams into c.
func (r *recorder) install(c *loop.Config, tools func([]string) []loop.Tool, old bool) {
	h := &r.sc.Hooks
	c.Convert = func(ms []transcript.Message) ([]transcript.Message, error) { return r.convert(ms, old) }
	if h.TransformContext != nil {
		c.TransformContext = func(_ context.Context, ms []transcript.Message) ([]transcript.Message, error) {
			seed := seeded(ms, old)
			return slices.Concat(ms[:seed], r.transform(ms[seed:])), nil
		}
	}
	if h.FinishTurn != nil {
		c.FinishTurn = r.finishTurn
	}
	if h.PrepareNextTurn != nil {
		c.PrepareNextTurn = func(_ context.Context, t loop.Turn) (loop.TurnUpdate, error) {
			n, _ := r.hook("prepareNextTurn", object{"contextLen": len(t.State.Messages()), "newLen": len(t.New)})
			u := loop.TurnUpdate{}
			if change := nth(h.PrepareNextTurn, n); change != nil {
				u.Messages, u.Thinking, u.ModelRef = change.Messages, change.ThinkingLevel, ref(change.Model)
				if change.Tools != nil {
					u.Tools = tools(*change.Tools)
				}
				if change.ContextMessages != nil {
					u.Context = *change.ContextMessages
				}
			}
			return u, nil
		}
	}
	if h.PrepareRequest != nil {
		c.PrepareRequest = r.prepareRequest
	}
	if h.BeforeToolCall != nil {
		c.BeforeTool = r.beforeTool
	}
	if h.AfterToolCall != nil {
		c.AfterTool = r.afterTool
	}
}

// ref names a model as scenarios do; nil is no change.
func ref(m *modelRef) *replay.ModelRef {
	if m == nil {
		return nil
	}
	out := replay.ModelRef{ID: "model-a", Provider: "scripted"}
	if m.ID != "" {
		out.ID = m.ID
	}
	if m.Provider != "" {
		out.Provider = m.Provider
	}
	return &out
}

func (r *recorder) convert(ms []transcript.Message, old bool) ([]transcript.Message, error) {
	var out []transcript.Message
	for _, m := range ms {
		switch m.Role {
		case transcript.System, transcript.User, transcript.Assistant, transcript.ToolResult:
			out = append(out, m)
		case transcript.CustomRole:
			if c := r.sc.Hooks.ConvertToLlm; c != nil && c.CustomAsUser {
				out = append(out, transcript.Message{Role: transcript.User, Content: m.Content, Form: m.Form})
			}
		}
	}
	seed := seeded(ms, old)
	r.hook("convertToLlm", object{"in": len(ms) - seed, "out": len(out) - seed})
	return out, nil
}

func (r *recorder) transform(ms []transcript.Message) []transcript.Message {
	n, entry := r.hook("transformContext", object{"in": len(ms)})
	change := r.sc.Hooks.transforms(n)
	view := slices.DeleteFunc(slices.Clone(ms), func(m transcript.Message) bool {
		return slices.Contains(change.DropRoles, string(m.Role))
	})
	if change.KeepLast != nil {
		view = keepLast(view, *change.KeepLast)
	}
	view = slices.Concat(change.Prepend, view, change.Append)
	r.amend(entry, "out", len(view))
	return view
}

// seeded is the number of leading messages that stand for what the older loop
// keeps beside them.
func seeded(ms []transcript.Message, old bool) int {
	if old && len(ms) > 0 && ms[0].Role == transcript.System {
		return 1
	}
	return 0
}

// keepLast is slice(-n) of the scenario's language, where -0 keeps everything.
func keepLast(ms []transcript.Message, n int) []transcript.Message {
	if n == 0 || n >= len(ms) {
		return ms
	}
	return ms[len(ms)-n:]
}

func (r *recorder) finishTurn(_ context.Context, t loop.Turn) (loop.Decision, error) {
	ids := []any{}
	for _, m := range t.Results {
		ids = append(ids, m.ToolCallID)
	}
	n, entry := r.hook("finishTurn", object{
		"stopReason": t.Message.StopReason, "toolResults": ids,
		"contextLen": len(t.State.Messages()), "newLen": len(t.New),
	})
	decision := nth(r.sc.Hooks.FinishTurn, n)
	if decision == nil || *decision == "" {
		return loop.Default, nil
	}
	r.amend(entry, "decision", *decision)
	return loop.Decision(*decision), nil
}

func (r *recorder) prepareRequest(_ context.Context, i loop.RequestInfo) (loop.RequestUpdate, error) {
	n, _ := r.hook("prepareRequest", object{
		"model": i.ModelRef.Provider + "/" + i.ModelRef.ID, "thinkingLevel": i.Thinking, "contextLen": len(i.Messages),
	})
	u := loop.RequestUpdate{}
	if change := nth(r.sc.Hooks.PrepareRequest, n); change != nil {
		if change.Tools != nil {
			return u, errors.New("a request update has no tools: the scenario cannot be played")
		}
		u.ModelRef, u.Thinking = ref(change.Model), change.ThinkingLevel
		if change.ContextMessages != nil {
			u.Context = *change.ContextMessages
		}
	}
	return u, nil
}

func (r *recorder) beforeTool(_ context.Context, i loop.ToolCallInfo) (loop.Verdict, error) {
	r.hook("beforeToolCall", object{"id": i.Call.ID, "args": clean(decode(r.t, i.Call.Arguments))})
	d := lookup(r.sc.Hooks.BeforeToolCall, i.Call.ID)
	if d == nil {
		return loop.Verdict{}, nil
	}
	r.act(d.Do)
	if d.Throw != nil {
		return loop.Verdict{}, errors.New(*d.Throw)
	}
	v := loop.Verdict{Reason: d.Reason, Terminate: d.Terminate}
	if d.Block != nil {
		v.Block = *d.Block
	}
	if d.SetArgs != nil {
		v.Arguments = assign(i.Call.Arguments, d.SetArgs)
	}
	return v, nil
}

func (r *recorder) afterTool(_ context.Context, i loop.ToolCallInfo, result loop.Result) (loop.ResultPatch, error) {
	r.hook("afterToolCall", object{"id": i.Call.ID, "isError": result.IsError})
	d := lookup(r.sc.Hooks.AfterToolCall, i.Call.ID)
	if d == nil {
		return loop.ResultPatch{}, nil
	}
	r.act(d.Do)
	if d.Throw != nil {
		return loop.ResultPatch{}, errors.New(*d.Throw)
	}
	return loop.ResultPatch{
		Content: parseContent(r.t, d.Content), Details: given(d.Details), StructuredContent: given(d.StructuredContent),
		Usage: given(d.Usage), IsError: d.IsError, Terminate: d.Terminate,
	}, nil
}

func lookup[T any](m map[string]*T, id string) *T {
	if d, ok := m[id]; ok && d != nil {
		return d
	}
	return m["*"]
}

// given is nil for null: a hook that returns null replaces nothing.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// assign sets members of an object, those it has in their place.
func assign(args, set json.RawMessage) json.RawMessage {
	var have, want map[string]json.RawMessage
	if json.Unmarshal(args, &have) != nil || json.Unmarshal(set, &want) != nil {
		return args
	}
	maps.Copy(have, want)
	out, _ := json.Marshal(have)
	return out
}
