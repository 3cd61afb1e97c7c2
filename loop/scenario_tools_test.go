package loop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

func execution(id string, n int) string { return id + "#" + strconv.Itoa(n) }

// pool makes the tools of a scenario.
func (r *recorder) pool() (byKey map[string]loop.Tool, order []string) {
	byKey = map[string]loop.Tool{}
	for _, def := range r.sc.Tools {
		key := def.Key
		if key == "" {
			key = def.Name
		}
		byKey[key] = r.tool(def)
		order = append(order, key)
	}
	return byKey, order
}

func (r *recorder) tool(def toolDef) loop.Tool {
	tool := loop.Tool{
		Tool:       transcript.Tool{Name: def.Name, Description: def.Name, Parameters: def.Parameters},
		Sequential: def.ExecutionMode == "sequential",
		Run: func(ctx context.Context, call transcript.Call, progress func(loop.Result)) (loop.Result, error) {
			return r.runTool(ctx, def, call, progress)
		},
	}
	if def.Description != nil {
		tool.Description = *def.Description
	}
	if tool.Parameters == nil {
		tool.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if def.PrepareArguments != nil {
		tool.Prepare = func(args json.RawMessage) (json.RawMessage, error) {
			return renameKeys(args, def.PrepareArguments.Rename)
		}
	}
	return tool
}

// runTool plays the steps of one execution.
func (r *recorder) runTool(ctx context.Context, def toolDef, call transcript.Call, progress func(loop.Result)) (loop.Result, error) {
	n := r.order(call)
	key := execution(call.ID, n)
	r.mu.Lock()
	r.started = append(r.started, object{"id": call.ID, "name": def.Name, "args": clean(decode(r.t, call.Arguments))})
	r.mu.Unlock()
	close(r.gate("start", key))
	finish := func(outcome string) {
		r.mu.Lock()
		r.finished = append(r.finished, object{"id": call.ID, "name": def.Name, "outcome": outcome})
		r.mu.Unlock()
		close(r.gate("finish", key))
	}
	for _, s := range def.steps(key, call.ID) {
		r.before(ctx, s, key, progress)
		switch {
		case s.Throw != nil:
			finish("throw")
			return loop.Result{}, errors.New(*s.Throw)
		case s.ThrowValue != nil:
			finish("throw")
			return loop.Result{}, errors.New(scriptString(s.ThrowValue))
		case s.Return != nil:
			finish("return")
			return parseResult(r.t, s.Return), nil
		}
	}
	finish("return")
	return loop.Result{Details: json.RawMessage(`{}`)}, nil
}

// before does everything of a step but end the tool.
func (r *recorder) before(ctx context.Context, s step, key string, progress func(loop.Result)) {
	if s.Update != nil {
		progress(parseResult(r.t, s.Update))
	}
	if s.LateUpdate != nil {
		r.mu.Lock()
		r.late[key] = func() { progress(parseResult(r.t, s.LateUpdate)) }
		r.mu.Unlock()
	}
	for _, ref := range s.WaitStart {
		<-r.gate("start", ref)
	}
	for _, ref := range s.WaitFinish {
		<-r.gate("finish", ref)
	}
	for _, ref := range s.WaitEnd {
		<-r.gate("end", ref)
	}
	if s.WaitAbort {
		<-ctx.Done()
	}
	r.act(s.Do)
}

// order tells which execution of its id a call is. Goroutines of a batch may
// enter their tools in any order, so executions are not counted as they come:
// the n-th is the n-th call with that id, by its place in the answers, that
// ran or can still run. The places are the calls' columns.
func (r *recorder) order(call transcript.Call) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, c := range r.calls {
		if c.column == call.Column {
			c.ran = true
		}
		if c.id == call.ID && c.column <= call.Column && (c.ran || !c.ended) {
			n++
		}
	}
	return n
}

// follow keeps track of the calls whose start or end is shown.
func (r *recorder) follow(e *loop.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Type {
	case loop.ToolExecutionStart:
		r.calls = append(r.calls, &shownCall{id: e.Call.ID, column: e.Call.Column})
	case loop.ToolExecutionEnd:
		for _, c := range r.calls {
			if c.column == e.Call.Column {
				c.ended = true
			}
		}
	}
}

type shownCall struct {
	id         string
	column     int
	ran, ended bool
}

func (d *toolDef) steps(key, id string) []step {
	for _, steps := range [][]step{d.Behaviour.Calls[key], d.Behaviour.Calls[id], d.Behaviour.Default} {
		if steps != nil {
			return steps
		}
	}
	return []step{{Return: json.RawMessage(strconv.Quote(d.Name + " ok"))}}
}

// scriptString is what the scenario's language makes of a thrown value.
func scriptString(raw json.RawMessage) string {
	var s *string // null leaves it nil: its text is "null"
	if json.Unmarshal(raw, &s) == nil && s != nil {
		return *s
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		return "[object Object]"
	}
	return string(raw)
}

// renameKeys renames members of an object in place.
func renameKeys(args json.RawMessage, names map[string]string) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(args))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteByte('{')
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		name := key.(string)
		if to, ok := names[name]; ok {
			name = to
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(name) + ":" + string(value))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String()), nil
}

// parseResult reads a result: a text, or an object as it is.
func parseResult(t testing.TB, raw json.RawMessage) loop.Result {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return loop.Result{Content: []transcript.Block{transcript.TextBlock(text)}, Details: json.RawMessage(`{}`)}
	}
	var shape struct {
		Content           json.RawMessage `json:"content"`
		Details           json.RawMessage `json:"details"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		Usage             json.RawMessage `json:"usage"`
		IsError           bool            `json:"isError"`
		Terminate         bool            `json:"terminate"`
	}
	if err := json.Unmarshal(raw, &shape); err != nil {
		t.Errorf("result %s: %v", raw, err)
	}
	return loop.Result{
		Content: parseContent(t, shape.Content), Details: shape.Details, StructuredContent: shape.StructuredContent,
		Usage: shape.Usage, IsError: shape.IsError, Terminate: shape.Terminate,
	}
}

// parseContent reads content blocks; nil stays nil.
func parseContent(t testing.TB, raw json.RawMessage) []transcript.Block {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	m, err := transcript.ParseMessage([]byte(`{"role":"toolResult","content":` + string(raw) + `}`))
	if err != nil {
		t.Errorf("content %s: %v", raw, err)
	}
	if m.Content == nil {
		m.Content = []transcript.Block{}
	}
	return m.Content
}
