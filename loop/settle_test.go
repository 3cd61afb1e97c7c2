package loop_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// interrupted is a history whose last answer has three calls, of which the
// first has its result.
func interrupted() *replay.State {
	s := &replay.State{}
	s.Append(transcript.UserText("go"))
	call := func(id, name string) transcript.Block {
		return transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: id, Name: name, Arguments: json.RawMessage(`{}`)}}
	}
	s.Append(transcript.Message{
		Role: transcript.Assistant, StopReason: transcript.StopToolUse,
		Content: []transcript.Block{call("a", "look"), call("b", "look"), call("c", "send"), call("d", "look")},
	})
	s.Append(transcript.Message{Role: transcript.ToolResult, ToolCallID: "a", ToolName: "look"})
	return s
}

func script(t testing.TB, responses ...json.RawMessage) *scripted.Model {
	t.Helper()
	parsed, err := scripted.Parse(responses)
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New(parsed)
}

func TestResumeSettlesOpenCalls(t *testing.T) {
	ran := map[string]int{}
	tool := func(name string, e loop.Effects) loop.Tool {
		return loop.Tool{
			Tool: transcript.Tool{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}, Effects: e,
			Run: func(_ context.Context, c transcript.Call, _ func(loop.Result)) (loop.Result, error) {
				ran[c.ID]++
				return loop.Result{Content: []transcript.Block{transcript.TextBlock("seen")}}, nil
			},
		}
	}
	var events []string
	c := loop.Config{
		Model: script(t, json.RawMessage(`{"text":"asked before"}`), json.RawMessage(`{"text":"done"}`)),
		Tools: []loop.Tool{tool("look", loop.Read), tool("send", loop.External)},
		Emit:  func(e loop.Event) error { events = append(events, string(e.Type)); return nil },
		Recover: func(call transcript.Call) loop.Recovery {
			switch call.ID {
			case "b":
				return loop.Recovery{Result: &loop.Result{Content: []transcript.Block{transcript.TextBlock("known")}}}
			case "c":
				return loop.Recovery{Refuse: "interrupted"}
			}
			return loop.Recovery{}
		},
	}
	s := interrupted()
	out, err := loop.Resume(t.Context(), c, s)
	if err != nil || out.Err != nil {
		t.Fatal(err, out.Err)
	}
	if len(ran) != 1 || ran["d"] != 1 {
		t.Errorf("tools that ran: %v, want d once", ran)
	}
	var got []string
	for _, m := range out.New {
		got = append(got, m.ToolCallID+":"+m.Text())
	}
	// The tools were not declared in this history, so a system message is due.
	if g, want := strings.Join(got, " "), "b:known c:interrupted d:seen : :done"; g != want {
		t.Errorf("new messages %q, want %q", g, want)
	}
	if n := strings.Count(strings.Join(events, " "), "turn_start"); n != 1 {
		t.Errorf("%d turns in %v", n, events)
	}
}

func TestResumeAfterAllVotesAsksNothing(t *testing.T) {
	s := &replay.State{}
	s.Append(transcript.UserText("go"))
	s.Append(transcript.Message{
		Role: transcript.Assistant, StopReason: transcript.StopToolUse,
		Content: []transcript.Block{{Type: transcript.BlockToolCall, Call: &transcript.Call{ID: "a", Name: "end", Arguments: json.RawMessage(`{}`)}}},
	})
	var events []string
	out, err := loop.Resume(t.Context(), loop.Config{
		Model: scripted.New(nil),
		Emit:  func(e loop.Event) error { events = append(events, string(e.Type)); return nil },
		Recover: func(transcript.Call) loop.Recovery {
			return loop.Recovery{Result: &loop.Result{Terminate: true}}
		},
	}, s)
	if err != nil || out.Err != nil || out.Turns != 0 {
		t.Fatalf("outcome %+v, %v", out, err)
	}
	want := "agent_start turn_start tool_execution_start tool_execution_end message_start message_end turn_end agent_end"
	if got := strings.Join(events, " "); got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}
