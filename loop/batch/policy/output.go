package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/schema"
	"github.com/turnlog/turnlog/replay/transcript"
)

// AnswerTool is the name of the tool by which an agent gives the answer that
// its task requires.
const AnswerTool = "submit_answer"

// Output asks for the answer that a task requires and takes it: as a call of
// AnswerTool, or as the text of the last message. What does not fit the schema
// goes back to the model with the validator's words, as often as the task says.
type Output struct {
	want    task.Output
	fits    *schema.Schema // of the answer, or of the tool's arguments around it
	wrapped bool           // the arguments hold the answer under its name
	stop    *Stop

	mu       sync.Mutex
	final    bool // the last run of the task is under way
	failures int
	words    string // of the last failure
	last     string // text of the last message
	answer   json.RawMessage
}

// answerKey holds an answer that is no object: arguments of a tool must be one.
const answerKey = "answer"

// NewOutput checks the schema.
func NewOutput(want task.Output, stop *Stop) (*Output, error) {
	o := &Output{want: want, stop: stop}
	if want.Via != task.ViaText && !describesObject(want.Schema) {
		o.wrapped = true
		o.want.Schema = fmt.Appendf(nil, `{"type":"object","properties":{%q:%s},"required":[%q]}`, answerKey, want.Schema, answerKey)
	}
	var err error
	if o.fits, err = schema.Compile(o.want.Schema); err != nil {
		return nil, fmt.Errorf("finish.output: %w", err)
	}
	return o, nil
}

// describesObject reports whether a schema can be that of a tool's arguments.
func describesObject(s json.RawMessage) bool {
	var top struct{ Type any }
	return json.Unmarshal(s, &top) == nil && top.Type == "object"
}

// Tools is the tool by which the answer comes, if it comes by one.
func (o *Output) Tools() []loop.Tool {
	if o.want.Via == task.ViaText {
		return nil
	}
	return []loop.Tool{{
		Tool: transcript.Tool{
			Name:        AnswerTool,
			Description: "Give the final answer of the task. Call it once, when the work is done.",
			Parameters:  o.want.Schema,
		},
		Effects: loop.None,
		Run: func(_ context.Context, c transcript.Call, _ func(loop.Result)) (loop.Result, error) {
			o.accept(c.Arguments)
			return loop.Result{
				Content:   []transcript.Block{transcript.TextBlock("The answer was accepted.")},
				Terminate: true,
			}, nil
		},
	}}
}

// Policy returns the seams.
func (o *Output) Policy() Policy {
	return Policy{FollowUp: o.followUp, FinishTurn: o.finishTurn, Observe: o.observe}
}

// Final says that the run that comes is the last one, so that its end is the
// moment for the answer.
func (o *Output) Final() { o.mu.Lock(); o.final = true; o.mu.Unlock() }

// Answer is what was accepted, nil before.
func (o *Output) Answer() json.RawMessage {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.answer
}

func (o *Output) accept(args json.RawMessage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.answer = args
	if !o.wrapped {
		return
	}
	var inside map[string]json.RawMessage
	if json.Unmarshal(args, &inside) == nil {
		o.answer = inside[answerKey]
	}
}

// observe counts calls of the tool that were refused.
func (o *Output) observe(e loop.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.Type == loop.TurnEnd && e.Message != nil:
		o.last = e.Message.Text()
	case e.Type == loop.ToolExecutionEnd && e.Call.Name == AnswerTool && e.IsError && o.want.Via != task.ViaText:
		o.failures++
		if e.Result != nil && len(e.Result.Content) > 0 {
			o.words = e.Result.Content[0].Text
		}
	}
}

func (o *Output) finishTurn(context.Context, loop.Turn) (loop.Decision, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answer == nil && o.exhausted() {
		return loop.End, nil
	}
	return loop.Default, nil
}

// exhausted gives up after the last attempt.
func (o *Output) exhausted() bool {
	if o.failures < max(o.want.Attempts, 1) {
		return false
	}
	o.stop.Set(NoOutput, fmt.Sprintf("finish.output: no valid answer in %d attempts: %s", o.failures, firstLine(o.words)))
	return true
}

// followUp asks for the answer when the agent would stop without it.
func (o *Output) followUp(context.Context) ([]transcript.Message, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.final || o.stop.Stopped() {
		return nil, nil
	}
	if o.want.Via != task.ViaText {
		if o.answer != nil {
			return nil, nil
		}
		o.words = "the agent stopped without calling " + AnswerTool
	} else {
		answer, err := o.read(o.last)
		if err == nil {
			o.answer = answer
			return nil, nil
		}
		o.words = err.Error()
	}
	o.failures++
	if o.exhausted() {
		return nil, nil
	}
	return []transcript.Message{transcript.UserText(o.request())}, nil
}

// opening begins the message that asks for the answer.
func (o *Output) opening() string {
	if o.want.Via != task.ViaText {
		return "The task needs its final answer as a call of the tool " + AnswerTool + "."
	}
	return "Your last message is not the answer that the task needs:"
}

func (o *Output) request() string {
	if o.want.Via != task.ViaText {
		return o.opening() + " Call it now."
	}
	return o.opening() + "\n" + o.words +
		"\n\nAnswer again with nothing but JSON that fits this schema:\n" + string(o.want.Schema)
}

// read takes an answer out of a text: JSON, alone or in one code fence.
func (o *Output) read(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if body, ok := strings.CutPrefix(text, "```"); ok {
		if inside, ok := strings.CutSuffix(body, "```"); ok {
			_, text, _ = strings.Cut(inside, "\n")
			text = strings.TrimSpace(text)
		}
	}
	if !json.Valid([]byte(text)) {
		return nil, errors.New("it is not JSON")
	}
	if err := o.fits.Validate(json.RawMessage(text)); err != nil {
		return nil, err
	}
	return json.RawMessage(text), nil
}

// Restore takes over what an earlier process has seen: the answer if it was
// accepted, the failures if not.
func (o *Output) Restore(history []transcript.Message) {
	calls := map[string]*transcript.Call{}
	for i := range history {
		m := &history[i]
		switch m.Role {
		case transcript.Assistant:
			o.last = m.Text()
			for _, c := range m.Calls() {
				calls[c.ID] = c
			}
		case transcript.ToolResult:
			call := calls[m.ToolCallID]
			switch {
			case m.ToolName != AnswerTool || o.want.Via == task.ViaText || call == nil:
			case m.IsError:
				o.failures, o.words = o.failures+1, m.Text()
			default:
				if args, err := o.fits.Convert(call.Arguments); err == nil {
					o.accept(args)
				}
			}
		case transcript.User:
			if strings.HasPrefix(m.Text(), o.opening()) {
				o.failures++
			}
		}
	}
}

// Take accepts the text of the last message, as the end of the last run does:
// that of a process that died before the result of its task was written.
func (o *Output) Take() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.answer != nil || o.want.Via != task.ViaText {
		return
	}
	if answer, err := o.read(o.last); err == nil {
		o.answer = answer
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
