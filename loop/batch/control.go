package batch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Control takes commands from another process while tasks run, one JSON object
// a line, as in pi's RPC mode:
//
//	{"id":"1","type":"steer","message":"look at the tests first"}
//	{"id":"2","type":"follow_up","message":"and now the docs","task":"audit"}
//	{"id":"3","type":"abort"}
//
// task names the task; it can be left out while one task runs. An abort
// without one ends the batch. What comes before the first task, or while its
// task is being set up, waits for it. Each command is answered by a response event with its id, after it took
// effect; text is another name of message.
type Control struct {
	sink   Sink
	abort  func(error)   // of the whole batch
	opened chan struct{} // closed when batch_start is out: nothing is answered before it

	mu    sync.Mutex
	tasks map[string]*listener // under way
	begun bool                 // a task has been under way
	early []*command           // for tasks that do not listen yet

	answering sync.Mutex
	closed    bool // nothing is answered any more
}

// listener is a task that takes commands.
type listener struct {
	conversation *policy.Conversation // nil while the task is set up
	abort        func(error)
	stream       *stream // shows what is queued

	mu    sync.Mutex
	shown queueBody // last
}

// queueBody is what queue_update says.
type queueBody struct {
	Steering  []string `json:"steering"`
	FollowUps []string `json:"followUp"`
}

// changed shows what waits to be said to the agent, if that is not what was
// shown last. A reader that is gone is noticed at the next event.
func (l *listener) changed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var now queueBody
	now.Steering, now.FollowUps = l.conversation.Waiting()
	if slices.Equal(now.Steering, l.shown.Steering) && slices.Equal(now.FollowUps, l.shown.FollowUps) {
		return
	}
	l.shown = now
	_ = l.stream.own(QueueUpdate, now)
}

// command is a line of the input.
type command struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Type    string          `json:"type"`
	Task    string          `json:"task"`
	Message string          `json:"message"`
	Text    string          `json:"text"` // the same
}

// responseBody is what a response says.
type responseBody struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Command string          `json:"command"`
	Success bool            `json:"success"`
	Error   string          `json:"error,omitempty"`
}

// AbortedError is the cause of what an abort command ended.
type AbortedError struct{}

func (AbortedError) Error() string { return "aborted by a command" }

// ExitCode is the one of an interrupt from the keyboard.
func (AbortedError) ExitCode() int { return policy.Aborted.ExitCode() }

// NewControl answers on sink. abort ends the whole batch.
func NewControl(sink Sink, abort func(error)) *Control {
	return &Control{sink: sink, abort: abort, opened: make(chan struct{}), tasks: map[string]*listener{}}
}

// errEarly says that a command waits for its task.
var errEarly = errors.New("the task does not listen yet")

// obey does what a command says and answers it, now or when its task takes
// commands. It reports whether it was a command that could be obeyed.
func (c *Control) obey(cmd *command) (ok bool, err error) {
	failed := c.do(cmd)
	if errors.Is(failed, errEarly) {
		return true, nil
	}
	return failed == nil, c.answer(cmd, failed)
}

// answer says what became of a command. Its error is that of the sink.
func (c *Control) answer(cmd *command, failed error) error {
	body := responseBody{ID: cmd.ID, Command: cmd.Type, Success: failed == nil}
	if failed != nil {
		body.Error = failed.Error()
	}
	c.answering.Lock()
	defer c.answering.Unlock()
	if c.closed {
		return nil
	}
	return c.sink.Event(&Event{Type: Response, Body: body})
}

// open lets commands be read.
func (c *Control) open() {
	if c != nil {
		close(c.opened)
	}
}

// close ends the answers, so that batch_end stays the last event.
func (c *Control) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.begun = true // no other task comes: what waits is refused
	c.mu.Unlock()
	c.obeyEarly()
	c.answering.Lock()
	defer c.answering.Unlock()
	c.closed = true
}

// obeyEarly obeys what came too early, as far as it still does not. An answer
// that nobody reads is noticed at the next event.
func (c *Control) obeyEarly() {
	c.mu.Lock()
	early := c.early
	c.early = nil
	c.mu.Unlock()
	for _, cmd := range early {
		_, _ = c.obey(cmd)
	}
}

// check says what is wrong with a command, whatever runs.
func (c *command) check() error {
	switch c.Type {
	case "steer", "follow_up":
		if strings.TrimSpace(c.words()) == "" {
			return errors.New("message is empty")
		}
	case "abort":
	case "":
		return errors.New("type is missing; there are steer, follow_up, abort")
	default:
		return fmt.Errorf("unknown command %q; there are steer, follow_up, abort", c.Type)
	}
	return nil
}

func (c *command) words() string { return cmp.Or(c.Message, c.Text) }

func (c *Control) do(cmd *command) error {
	if err := cmd.check(); err != nil {
		return err
	}
	if cmd.Type == "abort" && cmd.Task == "" {
		c.abort(AbortedError{})
		return nil
	}
	t, err := c.find(cmd)
	if err != nil {
		return err
	}
	switch cmd.Type {
	case "abort":
		t.abort(AbortedError{})
		return nil
	case "steer":
		t.conversation.Steering.Push(transcript.UserText(cmd.words()))
	case "follow_up":
		t.conversation.FollowUps.Push(transcript.UserText(cmd.words()))
	}
	t.changed()
	return nil
}

// find is the task that a command is for. A command that comes too early is
// kept.
func (c *Control) find(cmd *command) (*listener, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := cmd.Task
	running := slices.Sorted(maps.Keys(c.tasks))
	if id == "" && len(running) == 1 {
		id = running[0]
	}
	t := c.tasks[id]
	switch {
	case t != nil && (t.conversation != nil || cmd.Type == "abort"):
		return t, nil
	case t != nil, !c.begun:
		c.early = append(c.early, cmd)
		return nil, errEarly
	case id != "":
		return nil, fmt.Errorf("no task %q is running", id)
	case len(running) == 0:
		return nil, errors.New("no task is running")
	}
	return nil, fmt.Errorf("task is missing: %s are running", strings.Join(running, ", "))
}

// start says that a task is being set up: what it shall hear waits. begin lets
// it listen; end stops that. A nil Control has none.
func (c *Control) start(id string, abort func(error)) { c.set(id, &listener{abort: abort}) }

func (c *Control) begin(id string, t *listener) {
	c.set(id, t)
	if c != nil {
		c.obeyEarly()
	}
}

func (c *Control) set(id string, t *listener) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks[id], c.begun = t, true
}

func (c *Control) end(id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	delete(c.tasks, id)
	c.mu.Unlock()
	c.obeyEarly() // what waited for it is refused
}
