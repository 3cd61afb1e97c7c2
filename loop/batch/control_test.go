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
	for i, want := range []string{"<nil> parse false: invalid character", `<nil> dance false: unknown command "dance"`, "3 steer false: message is empty", `4 steer false: no task "other" is running`} {
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
