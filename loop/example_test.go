package loop_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/scripted"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// A program that embeds the loop: a model, a tool, a limit as a seam, and a
// look at what happens. The model is scripted, so that this runs anywhere.
func Example() {
	responses, err := scripted.Parse([]json.RawMessage{
		json.RawMessage(`{"text": "I will look it up.", "calls": [{"name": "weather", "arguments": {"city": "Oslo"}}]}`),
		json.RawMessage(`{"text": "It snows in Oslo."}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	weather := loop.Tool{
		Tool: transcript.Tool{
			Name:        "weather",
			Description: "Tells the weather in a city.",
			Parameters:  json.RawMessage(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`),
		},
		Effects: loop.Read,
		Run: func(_ context.Context, call transcript.Call, _ func(loop.Result)) (loop.Result, error) {
			var args struct{ City string }
			if err := json.Unmarshal(call.Arguments, &args); err != nil {
				return loop.Result{}, err
			}
			return loop.Result{Content: []transcript.Block{transcript.TextBlock("snow in " + args.City)}}, nil
		},
	}
	config := loop.Config{
		Model:    scripted.New(responses),
		ModelRef: replay.ModelRef{Provider: "scripted", ID: "example"},
		Tools:    []loop.Tool{weather},
		FinishTurn: func(_ context.Context, t loop.Turn) (loop.Decision, error) {
			if t.N == 10 {
				return loop.End, nil
			}
			return loop.Default, nil
		},
		Emit: func(e loop.Event) error {
			if e.Type == loop.MessageEnd && e.Message.Role != transcript.System {
				fmt.Printf("%s: %s\n", e.Message.Role, e.Message.Text())
			}
			return nil
		},
	}
	var history replay.State
	outcome, err := loop.Run(context.Background(), config, &history, transcript.UserText("How is the weather in Oslo?"))
	fmt.Println(outcome.Turns, outcome.Reason, err)
	for _, tool := range history.Tools() {
		fmt.Println("declared:", tool.Name)
	}
	// Output:
	// user: How is the weather in Oslo?
	// assistant: I will look it up.
	// toolResult: snow in Oslo
	// assistant: It snows in Oslo.
	// 2 stop <nil>
	// declared: weather
}

// Those who watch range over the events; those who want the end wait for the
// result. Neither holds up the run.
func ExampleStream() {
	responses, err := scripted.Parse([]json.RawMessage{json.RawMessage(`{"text": "Hello."}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	run := loop.StreamRun(context.Background(), loop.Config{Model: scripted.New(responses)}, new(replay.State), transcript.UserText("Hi."))
	for e := range run.Events() {
		if e.Delta != nil && e.Delta.Kind == loop.TextDelta {
			fmt.Println(e.Delta.Text)
		}
	}
	outcome, err := run.Result()
	fmt.Println(outcome.Reason, err)
	// Output:
	// Hello.
	// stop <nil>
}
