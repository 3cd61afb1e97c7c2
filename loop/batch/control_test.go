package batch

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// playControlled plays a task whose first tool call sends commands: while a
// tool runs, nothing waits for the process that controls.
func playControlled(t *testing.T, yaml, commands string) (Summary, *capture, string) {
	t.Helper()
	c := &capture{}
	sink := &NDJSON{W: c}
	ctx, abort := context.WithCancelCause(t.Context())
	defer abort(nil)
	control := NewControl(sink, abort)
	w := &world{ran: map[string]int{}}
	tools := func(tk *task.Task, list []task.Tool) ([]loop.Tool, error) {
		made, err := w.tools(tk, list)
		run := made[0].Run
		made[0].Run = func(ctx context.Context, call transcript.Call, progress func(loop.Result)) (loop.Result, error) {
			if err := control.Read(ctx, strings.NewReader(commands)); err != nil {
				t.Error(err)
			}
			return run(ctx, call, progress)
		}
		return made, err
	}
	dir := filepath.Join(t.TempDir(), "out")
	sum, err := Run(ctx, Options{Files: parse(t, "c", yaml), Out: dir, Sink: sink, Control: control, Tools: tools})
	if err != nil && sum.ExitCode != 130 {
		t.Fatal(err)
	}
	return sum, c, filepath.Join(dir, "c.jsonl")
}

func responses(t *testing.T, c *capture) string {
	t.Helper()
	var all []string
	for _, r := range c.records(t) {
		if r.Type == "response" {
			text := fmt.Sprint(r.Raw["id"], " ", r.Raw["command"], " ", r.Raw["success"])
			if e, ok := r.Raw["error"]; ok {
				text += ": " + fmt.Sprint(e)
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

const threeTurns = scriptedHead + "model: { provider: scripted, responses: [{ calls: [{ name: look, arguments: { n: 1 } }] }, { text: a }, { text: b }, { text: c }] }\n"

func TestControlSteersAndFollowsUp(t *testing.T) {
	sum, c, path := playControlled(t, threeTurns,
		`{"id":"1","type":"steer","message":"left"}`+"\n\n"+`{"id":2,"type":"follow_up","message":"more","task":"c"}`+"\n")
	if sum.ExitCode != 0 {
		t.Errorf("%+v", sum.Results)
	}
	if got, want := responses(t, c), "1 steer true\n2 follow_up true"; got != want {
		t.Errorf("responses %s", got)
	}
	if got := fmt.Sprint(userTexts(entries(t, path))); got != "[go left more]" {
		t.Errorf("the agent heard %s", got)
	}
	var queues []string
	for _, r := range c.records(t) {
		if r.Type == "queue_update" {
			queues = append(queues, fmt.Sprint(r.Raw["steering"], r.Raw["followUp"]))
		}
	}
	if got, want := strings.Join(queues, " "), "[left] [] [left] [more] [] [more] [] []"; got != want {
		t.Errorf("queues %s, want %s", got, want)
	}
}

func TestControlMistakes(t *testing.T) {
	_, c, _ := playControlled(t, threeTurns,
		"nonsense\n"+`{"type":"dance"}`+"\n"+`{"id":"3","type":"steer"}`+"\n"+`{"id":"4","type":"steer","message":"x","task":"other"}`)
	got := strings.Split(responses(t, c), "\n")
	for i, want := range []string{"<nil> parse false: line 1, column 2: invalid character", `<nil> dance false: unknown command "dance"`, "3 steer false: message is empty", `4 steer false: no task "other" is running`} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Errorf("response %d of %q, want %s", i, got, want)
		}
	}
}

func TestControlAborts(t *testing.T) {
	for _, cmd := range []string{`{"id":"1","type":"abort"}`, `{"id":"1","type":"abort","task":"c"}`} {
		sum, c, path := playControlled(t, threeTurns, cmd)
		if sum.ExitCode != 130 || sum.Results[0].Status != policy.Aborted {
			t.Errorf("%s: %+v", cmd, sum.Results)
		}
		rs := c.records(t)
		if rs[len(rs)-1].Type != "batch_end" {
			t.Errorf("%s: last event %s", cmd, rs[len(rs)-1].Type)
		}
		for _, f := range findings(t, path) {
			t.Errorf("%s: line %d: %s [%s]", cmd, f.Line, f.Message, f.Rule)
		}
	}
}

// Commands that come before a task runs wait for it; nothing is answered
// before batch_start.
func TestControlBeforeTheFirstTask(t *testing.T) {
	c := &capture{}
	out := &NDJSON{W: c}
	control := NewControl(out, func(error) {})
	read := make(chan error)
	go func() {
		read <- control.Read(t.Context(), strings.NewReader(`{"id":1,"type":"steer","text":"early","task":"c"}`+"\n[]\n"+`{"id":2,"type":"steer","task":7}`))
	}()
	gate := make(chan struct{})
	sink := sinkFunc(func(e *Event) error {
		if e.Type == TaskStart { // the input is read to its end before a task takes commands
			if err := <-read; err != nil {
				t.Error(err)
			}
			close(gate)
		}
		return out.Event(e)
	})
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Run(t.Context(), Options{Files: parse(t, "c", threeTurns), Out: dir, Sink: sink, Control: control, Tools: (&world{ran: map[string]int{}}).tools}); err != nil {
		t.Fatal(err)
	}
	<-gate
	if first := c.records(t)[0].Type; first != BatchStart {
		t.Errorf("the first event is %s", first)
	}
	want := "<nil> parse false: line 2: want a JSON object, not array\n" +
		"2 parse false: line 3: task: want a string, not number\n1 steer true"
	if got := responses(t, c); got != want {
		t.Errorf("responses\n%s\nwant\n%s", got, want)
	}
	if got := fmt.Sprint(userTexts(entries(t, filepath.Join(dir, "c.jsonl")))); got != "[go early]" {
		t.Errorf("the agent heard %s", got)
	}
}

// An input that says no command is given up, a line that is too long is read
// over.
func TestControlGivesUp(t *testing.T) {
	c := &capture{}
	control := NewControl(&NDJSON{W: c}, func(error) {})
	control.open()
	endless := strings.NewReader(strings.Repeat("y\n", 1_000_000))
	if err := control.Read(t.Context(), endless); err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(responses(t, c), "\n")
	if n := len(answers); n != maxMistakes+1 || !strings.HasSuffix(answers[n-1], "no more are read") {
		t.Errorf("%d answers, the last one is %q", n, answers[n-1])
	}
	*c = capture{}
	long := strings.Repeat("x", maxCommand+1) + "\n" + `{"id":1,"type":"dance"}` + "\n" + strings.Repeat("x", maxCommand+1)
	if err := control.Read(t.Context(), strings.NewReader(long)); err != nil {
		t.Fatal(err)
	}
	if got, want := responses(t, c), "<nil> parse false: line 1: longer than 1048576 bytes\n1 dance false: unknown command"; !strings.HasPrefix(got, want) {
		t.Errorf("responses %s", got)
	}
}

// An input without line ends is given up, too.
func TestControlEndlessLine(t *testing.T) {
	c := &capture{}
	control := NewControl(&NDJSON{W: c}, func(error) {})
	control.open()
	if err := control.Read(t.Context(), zeros{}); err != nil {
		t.Fatal(err)
	}
	if got, want := responses(t, c), "<nil> parse false: line 1 is longer than 67108864 bytes: no more is read"; got != want {
		t.Errorf("responses %s", got)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// From task_start on a task has a name to call it by: what comes while it is
// set up waits, and an abort does not.
func TestControlWhileATaskIsSetUp(t *testing.T) {
	two := "version: 1\nprompt: go\nmodel: { provider: scripted, responses: [{ text: a }, { text: b }] }\n"
	for _, c := range []struct{ command, responses, heard, status string }{
		{`{"id":1,"type":"steer","message":"hello","task":"second"}`, "1 steer true", "[go hello]", "ok"},
		{`{"id":1,"type":"steer","message":"hello"}`, "1 steer true", "[go hello]", "ok"},
		{`{"id":1,"type":"abort","task":"second"}`, "1 abort true", "[]", "aborted"},
	} {
		out := &capture{}
		w := &NDJSON{W: out}
		control := NewControl(w, func(error) {})
		sink := sinkFunc(func(e *Event) error {
			if err := w.Event(e); err != nil || e.Type != TaskStart || e.Task != "second" {
				return err
			}
			return control.Read(t.Context(), strings.NewReader(c.command))
		})
		dir := filepath.Join(t.TempDir(), "out")
		files := append(parse(t, "first", two), parse(t, "second", two)...)
		sum, err := Run(t.Context(), Options{Files: files, Out: dir, Sink: sink, Control: control})
		if err != nil {
			t.Fatal(err)
		}
		if got := responses(t, out); got != c.responses || string(sum.Results[1].Status) != c.status {
			t.Errorf("%s: %s, responses %s", c.command, sum.Results[1].Status, got)
		}
		if got := fmt.Sprint(userTexts(entries(t, filepath.Join(dir, "second.jsonl")))); got != c.heard {
			t.Errorf("%s: the agent heard %s", c.command, got)
		}
	}
}

// A message that was queued too late is not lost without a word.
func TestControlUnheard(t *testing.T) {
	c := &capture{}
	out := &NDJSON{W: c}
	control := NewControl(out, func(error) {})
	sink := sinkFunc(func(e *Event) error {
		if e.Type == "agent_end" { // the queues were asked for the last time
			control.tasks["c"].conversation.FollowUps.Push(transcript.UserText("too late"))
		}
		return out.Event(e)
	})
	yaml := "version: 1\nprompt: go\nmodel: { provider: scripted, responses: [{ text: a }] }\n"
	if _, err := Run(t.Context(), Options{Files: parse(t, "c", yaml), Out: filepath.Join(t.TempDir(), "out"), Sink: sink, Control: control}); err != nil {
		t.Fatal(err)
	}
	var notes []any
	for _, r := range c.records(t) {
		if r.Type == TaskNote {
			notes = append(notes, r.Raw["message"])
		}
	}
	if got := fmt.Sprint(notes); got != "[the task ended; queued messages that were not heard: 1]" {
		t.Errorf("notes %s", got)
	}
}
