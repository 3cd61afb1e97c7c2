package loop

import (
	"context"
	"slices"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Steer queues messages for the current run, or the next one: they are
// delivered after the turn that is under way. They survive the end, failure or
// abort of a run.
func (a *Agent) Steer(ms ...transcript.Message) { a.steering.Push(ms...) }

// FollowUp queues messages for the moment when the agent would otherwise stop.
func (a *Agent) FollowUp(ms ...transcript.Message) { a.followUp.Push(ms...) }

// Queued returns copies of what waits in the queues.
func (a *Agent) Queued() (steering, followUp []transcript.Message) {
	return a.steering.Messages(), a.followUp.Messages()
}

// ClearQueues drops what waits in both queues.
func (a *Agent) ClearQueues() {
	a.steering.Clear()
	a.followUp.Clear()
}

// Abort cancels the run under way, if there is one. It does not wait.
func (a *Agent) Abort() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.active != nil {
		a.active.cancel()
	}
}

// Wait returns when no run is under way, its last listener included, or when
// ctx ends, with the error of ctx. A listener must not wait for its own run.
func (a *Agent) Wait(ctx context.Context) error {
	a.mu.Lock()
	run := a.active
	a.mu.Unlock()
	if run == nil {
		return nil
	}
	select {
	case <-run.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// State returns a snapshot.
func (a *Agent) State() AgentState {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.state
	s.Messages = slices.Clip(s.Messages)
	if s.Streaming != nil {
		s.Streaming = Event{Type: MessageUpdate, Message: s.Streaming}.Clone().Message
	}
	return s
}

// SetTools replaces the tools, for runs that start later. The model is told
// of the difference when it is asked next.
func (a *Agent) SetTools(tools []Tool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.Tools = slices.Clone(tools)
}

// SetModel replaces the model for runs that start later; nil keeps the one
// there is and only names it anew.
func (a *Agent) SetModel(m Model, ref replay.ModelRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m != nil {
		a.config.Model = m
	}
	a.state.ModelRef = ref
}

// SetThinking replaces the thinking level for runs that start later.
func (a *Agent) SetThinking(level string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.Thinking = thinkingLevel(level)
}

// SetMessages replaces the conversation. A run under way goes on with what it
// had; what it adds comes behind the new messages.
func (a *Agent) SetMessages(ms []transcript.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.Messages, a.history = slices.Clone(ms), nil
}

// Reset drops the conversation and the queues and keeps the prompt and the
// tools that the model was told of, in one system message. It fails with an
// [*AgentError] while a run is under way.
func (a *Agent) Reset() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.active != nil {
		return errResetBusy
	}
	var kept []transcript.Message
	if m := replay.SystemMessage(a.state.Messages); m != nil {
		kept = []transcript.Message{*m}
	}
	a.state.Messages, a.history = kept, nil
	a.state.Streaming, a.state.PendingCalls, a.state.Error = nil, nil, ""
	a.steering.Clear()
	a.followUp.Clear()
	return nil
}
