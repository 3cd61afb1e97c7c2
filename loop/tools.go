package loop

import (
	"context"
	"sync"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Texts of results that no tool gave, as pi words them.
const (
	textAborted = "Operation aborted"
	textBlocked = "Tool execution was blocked"
	textSkipped = "Skipped due to queued user message."
)

// callsOutcome is what the calls of one message led to.
type callsOutcome struct {
	results   []transcript.Message
	terminate bool  // every call voted to end the run
	err       error // of a poll between calls; all results are there nevertheless
}

// calls is the batch of one message while it runs.
type calls struct {
	r         *run
	assistant *transcript.Message
	list      []call
	err       error
	together  bool // several calls run at once: each result is recorded as it comes
}

// runCalls answers every call of m, whatever happens: no call of a message
// that arrived stays without its result.
func (r *run) runCalls(ctx context.Context, m *transcript.Message) callsOutcome {
	raws := m.Calls()
	if len(raws) == 0 {
		return callsOutcome{}
	}
	b := &calls{r: r, assistant: m, list: make([]call, len(raws))}
	sequential := r.c.Execution == Sequential
	for i, raw := range raws {
		t := r.tools.byName[raw.Name]
		sequential = sequential || t != nil && t.Sequential
		b.list[i] = call{raw: raw, tool: t}
	}
	before := len(r.newMessages())
	switch {
	case m.StopReason == transcript.StopLength:
		b.refuseTruncated()
	case sequential:
		b.sequential(ctx)
	default:
		b.together = len(b.list) > 1
		b.parallel(ctx)
	}
	// The results are all that the batch added.
	return callsOutcome{r.newMessages()[before:], b.terminated(), b.err}
}

func (b *calls) terminated() bool {
	for i := range b.list {
		if !b.list[i].result.Terminate {
			return false
		}
	}
	return true
}

// refuseTruncated answers calls of a message that the output limit cut off:
// their arguments may be complete JSON and still lack their end.
func (b *calls) refuseTruncated() {
	for i := range b.list {
		c := &b.list[i]
		b.start(c)
		c.refuse(`Tool call "` + c.raw.Name + `" was not executed: the response hit the output token limit, so its arguments may be truncated. Re-issue the tool call with complete arguments.`)
		b.end(c)
		b.answer(c)
	}
}

// sequential runs one call after the other.
func (b *calls) sequential(ctx context.Context) {
	for i := range b.list {
		c := &b.list[i]
		b.start(c)
		if b.prepare(ctx, c) {
			b.runAlone(ctx, c)
		} else {
			b.end(c)
		}
		b.answer(c)
		if b.steered(ctx) {
			b.skip(b.list[i+1:])
			return
		}
	}
}

// parallel prepares the calls in order, then starts what passed in order and
// lets it run at once. tool_execution_end events come as calls complete, the
// results in source order.
func (b *calls) parallel(ctx context.Context) {
	skipping := b.r.c.SteeringMode == SkipRemaining
	var ready []*call
	for i := range b.list {
		c := &b.list[i]
		b.start(c)
		if b.prepare(ctx, c) {
			ready = append(ready, c)
		} else {
			b.end(c)
			if skipping {
				b.answer(c)
			}
		}
		if b.steered(ctx) {
			b.skipPrepared(ready)
			b.skip(b.list[i+1:])
			return
		}
	}
	if skipping {
		b.runInOrder(ctx, ready)
		b.steered(ctx)
		return
	}
	if len(ready) == 1 { // nothing runs beside it
		b.runAlone(ctx, ready[0])
	} else {
		b.launch(ctx, ready, func(c *call) { b.finish(ctx, c) }).Wait()
	}
	for i := range b.list {
		b.answer(&b.list[i])
	}
}

// runAlone runs a prepared call in the loop's own goroutine.
func (b *calls) runAlone(ctx context.Context, c *call) {
	if b.intend(ctx, c) {
		b.execute(ctx, c)
	}
	b.finish(ctx, c)
}

// launch starts calls in order, at most MaxParallel at once, and returns when
// all were started. done runs after each call, in its goroutine if it ran.
func (b *calls) launch(ctx context.Context, ready []*call, done func(*call)) *sync.WaitGroup {
	var running sync.WaitGroup
	var slots chan struct{}
	if n := b.r.c.MaxParallel; n > 0 {
		slots = make(chan struct{}, n)
	}
	for _, c := range ready {
		if slots != nil {
			slots <- struct{}{}
		}
		if !b.intend(ctx, c) {
			done(c)
			release(slots)
			continue
		}
		running.Go(func() {
			defer release(slots)
			b.executeFully(ctx, c, done)
		})
	}
	return &running
}

// executeFully runs done even if the tool ended its goroutine (runtime.Goexit,
// which a failed assertion in a tool under test does).
func (b *calls) executeFully(ctx context.Context, c *call, done func(*call)) {
	returned := false
	defer func() {
		if !returned {
			c.result = errorResult(errNoReturn.Error())
		}
		done(c)
	}()
	b.execute(ctx, c)
	returned = true
}

func release(slots chan struct{}) {
	if slots != nil {
		<-slots
	}
}

// runInOrder is the older loop's way: calls run at once, but each is finished,
// ended and answered in source order.
func (b *calls) runInOrder(ctx context.Context, ready []*call) {
	finished := make(map[*call]chan struct{}, len(ready))
	for _, c := range ready {
		finished[c] = make(chan struct{})
	}
	running := b.launch(ctx, ready, func(c *call) { close(finished[c]) })
	for _, c := range ready {
		<-finished[c]
		b.finish(ctx, c)
		b.answer(c)
	}
	running.Wait()
}

// steered polls for steering that skips the rest of the batch. What it finds
// opens the next turn.
func (b *calls) steered(ctx context.Context) bool {
	if b.r.c.SteeringMode != SkipRemaining {
		return false
	}
	b.err = b.r.poll(ctx, b.r.c.Steering, causeSteering)
	return b.err != nil || len(b.r.pending.messages) > 0
}

// skip shows and answers calls that were not looked at yet.
func (b *calls) skip(rest []call) {
	for i := range rest {
		b.start(&rest[i])
		b.leave(&rest[i])
	}
}

// skipPrepared answers calls whose start was shown but that do not run.
func (b *calls) skipPrepared(ready []*call) {
	for _, c := range ready {
		b.leave(c)
	}
}

// leave answers a call that steering, or a poll that failed, leaves out.
func (b *calls) leave(c *call) {
	text := textSkipped
	if b.err != nil {
		text = textAborted
	}
	c.refuse(text)
	b.end(c)
	b.answer(c)
}

func (b *calls) start(c *call) { b.r.emit(Event{Type: ToolExecutionStart, Call: c.raw}) }

// finish lets AfterTool look at what ran, and ends the call.
func (b *calls) finish(ctx context.Context, c *call) {
	if c.ran {
		b.afterTool(ctx, c)
	}
	b.end(c)
}

// end shows that a call has its result, which is on disk by then: as its
// message, or beside other calls, whose messages come only when all of them
// ended, as a record of its own.
func (b *calls) end(c *call) {
	if b.together && b.r.c.Append != nil {
		b.r.note(transcript.CustomResult, transcript.CallResult{
			ToolCallID: c.raw.ID, Result: appendResult(nil, &c.result), IsError: c.result.IsError,
			Terminate: c.result.Terminate, DurationMs: c.durationMs(),
		})
	}
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	if !b.together {
		c.kept = c.message()
		c.entry = b.r.keep(c.kept)
	}
	b.r.emitLocked(Event{
		Type: ToolExecutionEnd, Call: c.raw, Result: &c.result,
		IsError: c.result.IsError, DurationMs: c.durationMs(),
	})
}

// answer makes the result of a call part of the history, and shows it.
func (b *calls) answer(c *call) {
	if c.kept == nil {
		b.r.commit(c.message(), false)
		return
	}
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	b.r.show(c.kept, c.entry, false)
}
