package loop_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// TestAgentListenersAreABarrier: the agent is not idle, and no later event is
// sent, before the listeners of each event have returned; that of agent_end too.
func TestAgentListenersAreABarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := loop.NewAgent(loop.Config{Model: scriptOf(t, `{"text":"hi"}`)}, loop.AgentOptions{})
		var order []string
		listen := func(name string) loop.Listener {
			return func(_ context.Context, e loop.Event) error {
				if e.Type == loop.AgentEnd {
					time.Sleep(time.Second)
				}
				order = append(order, name+" "+string(e.Type))
				return nil
			}
		}
		a.Subscribe(listen("first"))
		stop := a.Subscribe(listen("second"))
		began := time.Now()
		go func() {
			if _, err := a.Prompt(t.Context(), transcript.UserText("hello")); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		if !a.State().Running {
			t.Error("idle while the listeners of agent_end run")
		}
		if _, err := a.Prompt(t.Context(), transcript.UserText("too early")); err == nil {
			t.Error("a second prompt was accepted")
		}
		if err := a.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("idle after %v, want 2s", took)
		}
		want := []string{"first turn_end", "second turn_end", "first agent_end", "second agent_end"}
		if diff := cmp.Diff(want, order[len(order)-4:]); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		n := len(order)
		stop()
		if _, err := a.Prompt(t.Context(), transcript.UserText("again")); err != nil {
			t.Fatal(err)
		}
		for _, line := range order[n:] {
			if line[:5] != "first" {
				t.Errorf("%s after it unsubscribed", line)
			}
		}
	})
}

// TestAgentWaitGivesUp: Wait ends with its context; the run goes on.
func TestAgentWaitGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := loop.Config{
			Model: scriptOf(t, `{"calls":[{"name":"sleep","arguments":{"s":5}}]}`, `{"text":"awake"}`),
			Tools: []loop.Tool{sleeper("sleep", sleepOrAbort)},
		}
		a := loop.NewAgent(c, loop.AgentOptions{})
		go func() { _, _ = a.Prompt(t.Context(), transcript.UserText("sleep")) }()
		synctest.Wait()
		if diff := cmp.Diff([]string{"call_1_1"}, a.State().PendingCalls); diff != "" {
			t.Errorf("pending calls (-want +got):\n%s", diff)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait: %v", err)
		}
		a.Abort()
		if err := a.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		messages := a.State().Messages
		if last := messages[len(messages)-1]; last.StopReason != transcript.StopAborted {
			t.Errorf("the run ended with %s", last.StopReason)
		}
	})
}

// TestAgentFailingListener: a listener's error ends the run; the agent keeps
// every message of it and can go on.
func TestAgentFailingListener(t *testing.T) {
	c := loop.Config{
		Model: scriptOf(t, `{"calls":[{"name":"echo","arguments":{"text":"a"}}]}`, `{"text":"fine"}`, `{"text":"fine"}`),
		Tools: []loop.Tool{echoTool()},
	}
	a := loop.NewAgent(c, loop.AgentOptions{SystemPrompt: "Be brief."})
	full := errors.New("log full")
	stop := a.Subscribe(func(_ context.Context, e loop.Event) error {
		if e.Type == loop.ToolExecutionStart {
			return full
		}
		return nil
	})
	out, err := a.Prompt(t.Context(), transcript.UserText("go"))
	if !errors.Is(err, full) {
		t.Fatalf("Prompt: %v", err)
	}
	if got, want := len(a.State().Messages), len(out.New)+1; got != want {
		t.Errorf("%d messages, want %d", got, want)
	}
	stop()
	if out, err = a.Prompt(t.Context(), transcript.UserText("again")); err != nil || out.Reason != transcript.StopEnd {
		t.Errorf("the next prompt: %s, %v", out.Reason, err)
	}
}

// TestAgentTranscript: the transcript of an agent begins with what the agent
// begins with, and a reset begins another root; no id comes twice.
func TestAgentTranscript(t *testing.T) {
	var got []string
	ids := map[string]bool{}
	c := loop.Config{
		Model: scriptOf(t, `{"text":"one"}`, `{"text":"two"}`), Tools: []loop.Tool{echoTool()},
		Append: func(e *transcript.Entry) error {
			if ids[e.ID] {
				t.Errorf("id %s twice", e.ID)
			}
			ids[e.ID] = true
			if e.Message != nil {
				got = append(got, string(e.Message.Role)+" "+e.Message.Text()+map[bool]string{true: " (root)"}[e.ParentID == ""])
			}
			return nil
		},
	}
	a := loop.NewAgent(c, loop.AgentOptions{SystemPrompt: "Be brief."})
	for range 2 {
		if _, err := a.Prompt(t.Context(), transcript.UserText("go")); err != nil {
			t.Fatal(err)
		}
		if err := a.Reset(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"system Be brief. (root)", "user go", "assistant one", "system Be brief. (root)", "user go", "assistant two"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}
