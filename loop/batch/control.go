package batch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
// without one ends the batch. Each command is answered by a response event
// with its id, after it took effect.
type Control struct {
	sink  Sink
	abort func(error) // of the whole batch

	mu    sync.Mutex
	tasks map[string]*controlled

	answering sync.Mutex
	closed    bool // nothing is answered any more
}

// controlled is a task that takes commands.
type controlled struct {
	conversation *policy.Conversation
	changed      func() // shows what is queued
	abort        func(error)
}

// command is a line of the input.
type command struct {
	ID      json.RawMessage `json:"id,omitempty"`
	Type    string          `json:"type"`
	Task    string          `json:"task"`
	Message string          `json:"message"`
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
	return &Control{sink: sink, abort: abort, tasks: map[string]*controlled{}}
}

// maxCommand is the longest line that is read.
const maxCommand = 16 << 20

// Read obeys commands until r ends or ctx does. The end of the input ends
// nothing else.
func (c *Control) Read(ctx context.Context, r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxCommand)
	for ctx.Err() == nil && lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := c.obey(lines.Bytes()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("read commands: %w", err)
	}
	return nil
}

func (c *Control) obey(line []byte) error {
	var cmd command
	answer := responseBody{Command: "parse"}
	err := json.Unmarshal(line, &cmd)
	if err == nil {
		answer.ID, answer.Command = cmd.ID, cmd.Type
		err = c.do(&cmd)
	}
	if answer.Success = err == nil; err != nil {
		answer.Error = err.Error()
	}
	c.answering.Lock()
	defer c.answering.Unlock()
	if c.closed {
		return nil
	}
	return c.sink.Event(&Event{Type: Response, Body: answer})
}

// close ends the answers, so that batch_end stays the last event.
func (c *Control) close() {
	if c == nil {
		return
	}
	c.answering.Lock()
	defer c.answering.Unlock()
	c.closed = true
}

func (c *Control) do(cmd *command) error {
	if cmd.Type == "abort" && cmd.Task == "" {
		c.abort(AbortedError{})
		return nil
	}
	switch cmd.Type {
	case "steer", "follow_up":
		if strings.TrimSpace(cmd.Message) == "" {
			return errors.New("message is empty")
		}
	case "abort":
	default:
		return fmt.Errorf("unknown command %q; there are steer, follow_up, abort", cmd.Type)
	}
	t, err := c.find(cmd.Task)
	if err != nil {
		return err
	}
	switch cmd.Type {
	case "steer":
		t.conversation.Steering.Push(transcript.UserText(cmd.Message))
	case "follow_up":
		t.conversation.FollowUps.Push(transcript.UserText(cmd.Message))
	case "abort":
		t.abort(AbortedError{})
		return nil
	}
	t.changed()
	return nil
}

func (c *Control) find(id string) (*controlled, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tasks[id]; t != nil {
		return t, nil
	}
	running := slices.Sorted(maps.Keys(c.tasks))
	switch {
	case id != "":
		return nil, fmt.Errorf("no task %q is running", id)
	case len(running) == 1:
		return c.tasks[running[0]], nil
	case len(running) == 0:
		return nil, errors.New("no task is running")
	}
	return nil, fmt.Errorf("task is missing: %s are running", strings.Join(running, ", "))
}

// begin lets a task take commands; end stops that. A nil Control has none.
func (c *Control) begin(id string, t *controlled) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tasks[id] = t
}

func (c *Control) end(id string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tasks, id)
}
