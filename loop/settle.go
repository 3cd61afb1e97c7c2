package loop

import (
	"context"
	"fmt"
	"time"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Recovery says what becomes of a call that an interrupted process left
// without a result. The zero value runs it.
type Recovery struct {
	Result     *Result // what the tool gave, as recorded before the interruption
	DurationMs int64   // of the tool, with Result; -1 if it did not run
	Refuse     string  // text of an error result; the call does not run
}

// settle answers the calls that the history left open, one after the other, so
// that the model can be asked. owed is false if it need not be: they are all
// the calls of their message, and all vote to end the run. Then their turn is
// over.
func (r *run) settle(ctx context.Context) (owed bool, err error) {
	open := r.history.OpenCalls()
	if r.c.Recover == nil || len(open) == 0 {
		return true, nil
	}
	b := &calls{r: r, assistant: r.lastAnswer(), list: make([]call, len(open))}
	before := len(r.newMessages())
	for i := range open {
		c := &b.list[i]
		c.raw, c.tool = &open[i], r.tools.byName[open[i].Name]
		b.start(c)
		b.recover(ctx, c)
		b.end(c)
		b.answer(c)
	}
	if len(open) < len(b.assistant.Calls()) || !b.terminated() {
		return true, nil
	}
	_, err = r.finishTurn(ctx, Turn{Message: b.assistant, Results: r.newMessages()[before:], State: r.view}, true)
	return false, err
}

// recover gives a call its result.
func (b *calls) recover(ctx context.Context, c *call) {
	known, err := guard("Recover", func() (Recovery, error) { return b.r.c.Recover(*c.raw), nil })
	switch {
	case err != nil:
		c.refuse(err.Error())
	case known.Result != nil:
		c.result, c.ran = *known.Result, known.DurationMs >= 0
		c.duration = time.Duration(known.DurationMs) * time.Millisecond
	case known.Refuse != "":
		c.refuse(known.Refuse)
	case b.prepare(ctx, c) && b.intend(ctx, c):
		b.execute(ctx, c)
		b.afterTool(ctx, c)
	}
}

// lastAnswer is the last message of the model in the history.
func (r *run) lastAnswer() *transcript.Message {
	messages := r.history.Messages()
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == transcript.Assistant && !messages[i].Failed() {
			return &messages[i]
		}
	}
	return &transcript.Message{Role: transcript.Assistant}
}

// ParseResult reads the result of a turnlog.result entry.
func ParseResult(r *transcript.CallResult) (Result, error) {
	// A result is written as the content of a message is.
	m, err := transcript.ParseMessage(r.Result)
	if err != nil {
		return Result{}, fmt.Errorf("read the result of call %s: %w", r.ToolCallID, err)
	}
	return Result{
		Content: m.Content, Details: m.Details, Usage: m.ToolUsage,
		IsError: r.IsError, Terminate: r.Terminate,
	}, nil
}
