package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnlog/turnlog/replay/transcript"
)

var emptyObject = json.RawMessage(`{}`)

// errNoReturn is a tool that ended its goroutine instead of returning.
var errNoReturn = errors.New("the tool did not return")

// call is one tool call on its way to a result.
type call struct {
	raw      *transcript.Call // as the model sent it
	tool     *Tool
	args     json.RawMessage // validated
	changed  bool            // args are not the raw ones
	result   Result
	ran      bool
	duration time.Duration

	kept  *transcript.Message // the result, once it is part of the history and was not shown
	entry *transcript.Entry   // of kept
}

// refuse gives a call that does not run its result.
func (c *call) refuse(text string) { c.result = errorResult(text) }

func errorResult(text string) Result {
	return Result{Content: []transcript.Block{transcript.TextBlock(text)}, Details: emptyObject, IsError: true}
}

func (c *call) durationMs() int64 {
	if !c.ran {
		return -1
	}
	return c.duration.Round(time.Millisecond).Milliseconds()
}

// message is the result as the model sees it. Votes and structured content
// are in events only.
func (c *call) message() *transcript.Message {
	m := &transcript.Message{
		Role: transcript.ToolResult, ToolCallID: c.raw.ID, ToolName: c.raw.Name,
		Content: c.result.Content, Details: c.result.Details, ToolUsage: c.result.Usage, IsError: c.result.IsError,
	}
	if c.ran {
		m.DurationMs, m.HasDuration = c.durationMs(), true
	}
	return m
}

// prepare finds out whether a call may run; if not, it has its result.
func (b *calls) prepare(ctx context.Context, c *call) bool {
	switch {
	case ctx.Err() != nil:
		c.refuse(textAborted)
		return false
	case c.tool == nil:
		c.refuse("Tool " + c.raw.Name + " not found")
		return false
	}
	if err := b.convertArguments(c); err != nil {
		c.refuse(err.Error())
		return false
	}
	return b.allowed(ctx, c)
}

// allowed asks BeforeTool.
func (b *calls) allowed(ctx context.Context, c *call) bool {
	if b.r.c.BeforeTool == nil {
		return true
	}
	info := b.info(c)
	v, err := guard("BeforeTool", func() (Verdict, error) { return b.r.c.BeforeTool(ctx, info) })
	switch {
	case err != nil:
		c.refuse(err.Error())
	case ctx.Err() != nil:
		c.refuse(textAborted)
	case v.Block:
		c.refuse(orDefault(v.Reason, textBlocked))
		c.result.Terminate = v.Terminate
	default:
		if v.Arguments != nil {
			c.args, c.changed = v.Arguments, true
		}
		return true
	}
	return false
}

// info is what a seam sees of a call. Others may grow the history meanwhile,
// so it gets a state of its own.
func (b *calls) info(c *call) ToolCallInfo {
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	return ToolCallInfo{
		Assistant: b.assistant,
		Call:      transcript.Call{ID: c.raw.ID, Name: c.raw.Name, Arguments: c.args, Column: c.raw.Column},
		Tool:      c.tool,
		State:     b.r.view.Clone(),
	}
}

// convertArguments mends, converts and validates what the model sent.
func (b *calls) convertArguments(c *call) error {
	args := c.raw.Arguments
	if len(args) == 0 {
		args = emptyObject
	}
	if c.tool.Prepare != nil {
		var err error
		args, err = guard("Prepare of "+c.tool.Name, func() (json.RawMessage, error) { return c.tool.Prepare(args) })
		if err != nil {
			return err
		}
	}
	if c.raw.ArgumentsError != "" {
		return &UnreadableArgumentsError{Tool: c.raw.Name, Reason: c.raw.ArgumentsError}
	}
	s, err := b.r.tools.schema(c.tool)
	if err != nil {
		return err
	}
	converted, err := s.Convert(args)
	if err != nil {
		return argumentsError(c.raw.Name, args, err)
	}
	c.args, c.changed = converted, !bytes.Equal(converted, c.raw.Arguments)
	return nil
}

// intend records that a call is about to run. After a crash, an intent
// without a result says that the tool may have done its work. It may not run
// when the intent could not be written, or the run was aborted meanwhile.
func (b *calls) intend(ctx context.Context, c *call) bool {
	if ctx.Err() == nil && b.r.c.Append != nil {
		intent := transcript.CallIntent{ToolCallID: c.raw.ID, Tool: c.raw.Name, Effects: string(orDefault(c.tool.Effects, External))}
		if c.changed {
			intent.Arguments = c.args
		}
		b.r.note(transcript.CustomCall, intent)
	}
	if ctx.Err() != nil {
		c.refuse(textAborted)
		return false
	}
	c.ran = true
	return true
}

// progress shows partial results until its call has returned. Reports may come
// from goroutines that outlive the call.
type progress struct {
	r    *run
	raw  *transcript.Call
	mu   sync.Mutex
	over bool
}

func (p *progress) report(partial Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.r.emit(Event{Type: ToolExecutionUpdate, Call: p.raw, Result: &partial})
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}

// execute runs a tool. Whatever it does, there is a result.
func (b *calls) execute(ctx context.Context, c *call) {
	p := &progress{r: b.r, raw: c.raw}
	began := b.r.now()
	result, err := runTool(ctx, c, p.report)
	c.duration = max(b.r.now().Sub(began), 0) // a clock of the caller's may jump
	p.end()
	if err != nil {
		result = errorResult(err.Error())
	}
	c.result = result
}

// runTool calls the tool; its panic is an error.
func runTool(ctx context.Context, c *call, progress func(Result)) (result Result, err error) {
	defer catch(&err, "tool "+c.raw.Name)
	if c.tool.Run == nil {
		return Result{}, fmt.Errorf("tool %s cannot be run", c.raw.Name)
	}
	return c.tool.Run(ctx, transcript.Call{ID: c.raw.ID, Name: c.raw.Name, Arguments: c.args, Column: c.raw.Column}, progress)
}

// afterTool lets AfterTool replace parts of the result.
func (b *calls) afterTool(ctx context.Context, c *call) {
	if b.r.c.AfterTool == nil {
		return
	}
	info := b.info(c)
	p, err := guard("AfterTool", func() (ResultPatch, error) { return b.r.c.AfterTool(ctx, info, c.result) })
	if err != nil {
		c.result = errorResult(err.Error())
		return
	}
	c.result.patch(p)
}

// patch replaces what p sets. Structured content that was not replaced along
// with the content may no longer match it, so it goes.
func (r *Result) patch(p ResultPatch) {
	if p.Content != nil {
		r.Content = p.Content
		r.StructuredContent = nil
	}
	if p.StructuredContent != nil {
		r.StructuredContent = p.StructuredContent
	}
	if p.Details != nil {
		r.Details = p.Details
	}
	if p.Usage != nil {
		r.Usage = p.Usage
	}
	if p.IsError != nil {
		r.IsError = *p.IsError
	}
	if p.Terminate != nil {
		r.Terminate = *p.Terminate
	}
}

func orDefault[T ~string](v, fallback T) T {
	if v == "" {
		return fallback
	}
	return v
}
