package task

import (
	"math"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// Steering is what is said to the agent while it works.
type Steering struct {
	Mode     string    `json:"mode"`  // next_turn (default) or skip_remaining
	Queue    string    `json:"queue"` // one_at_a_time (default) or all
	Messages []Message `json:"messages,omitempty"`
}

// Message is a steering message.
type Message struct {
	When When   `json:"when,omitzero"`
	Text string `json:"text"`
}

// When is a moment of a run. The zero value is its start. Turns are counted
// over all runs of the task.
type When struct {
	AfterTurn int    `json:"after_turn,omitempty"` // after the end of turn n, from 1
	AfterTool string `json:"after_tool,omitempty"` // after the Nth result of the tool of that name
	Nth       int    `json:"nth,omitempty"`        // from 1; set whenever AfterTool is
}

// ToolChange changes the executable tools. The model learns of it by the
// declaration before the next request.
type ToolChange struct {
	When   When     `json:"when"`
	Add    []Tool   `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"` // names; an mcp name may end in *
}

func defaultSteering() Steering { return Steering{Mode: NextTurn, Queue: OneAtATime} }

// The values of Steering.
const (
	NextTurn      = "next_turn"
	SkipRemaining = "skip_remaining"
	OneAtATime    = "one_at_a_time"
	All           = "all"
)

// steering also has a short form, the list of messages.
func (r *reader) steering() table.Value[Steering] {
	short := table.Convert(table.List(r.message()), func(messages []Message) Steering {
		s := defaultSteering()
		s.Messages = messages
		return s
	})
	return table.Either(short, table.Mapping("steering", defaultSteering(), func(k *table.Keys, s *Steering) {
		table.To(k, "mode", table.OneOf(NextTurn, SkipRemaining), &s.Mode,
			"When a message takes effect while tools run: next_turn lets the batch finish (default), skip_remaining answers the calls that have not run with an error.")
		table.To(k, "queue", table.OneOf(OneAtATime, All), &s.Queue,
			"How many waiting messages one poll delivers; default one_at_a_time.")
		table.To(k, "messages", table.List(r.message()), &s.Messages,
			"What is said, and when.").Must()
	}))
}

// message is a mapping, or only the text.
func (r *reader) message() table.Value[Message] {
	short := table.Convert(table.Filled(), func(text string) Message { return Message{Text: text} })
	return table.Either(short, table.Mapping("a steering message", Message{}, func(k *table.Keys, m *Message) {
		table.To(k, "when", r.when(), &m.When, "When the message is queued; without it at the start.")
		table.To(k, "text", table.Filled(), &m.Text, "What is said.").Must()
	}))
}

// when is one moment.
func (r *reader) when() table.Value[When] {
	return table.Mapping("when", When{}, func(k *table.Keys, w *When) {
		table.To(k, "after_turn", table.Integer(1, math.MaxInt32), &w.AfterTurn, "After the end of this turn of the task, counted from 1.")
		table.To(k, "after_tool", r.toolName(nil), &w.AfterTool, "After a result of the tool of this name.")
		table.To(k, "nth", table.Integer(1, math.MaxInt32), &w.Nth, "After its n-th result; default 1.")
	}).Then(func(d *table.Decoder, n *table.Node, w *When) {
		switch {
		case (w.AfterTurn != 0) == (w.AfterTool != ""):
			d.At(n, "", "when needs either after_turn or after_tool")
		case w.AfterTool == "" && w.Nth != 0:
			d.At(n, "", "nth counts results of after_tool")
		case w.AfterTool != "":
			w.Nth = max(w.Nth, 1)
		}
	})
}

// toolChange has no default for when: a change at the start is what tools says.
func (r *reader) toolChange() table.Value[ToolChange] {
	return table.Mapping("a tool change", ToolChange{}, func(k *table.Keys, c *ToolChange) {
		table.To(k, "when", r.when(), &c.When, "When the tools change.").Must()
		table.To(k, "add", table.Some(r.addedTool()), &c.Add,
			"Tools that the agent gets: as in tools, or the name of a tool that was removed.")
		table.To(k, "remove", table.Some(r.toolName(nil)), &c.Remove, "Names of tools that go.")
	}).Then(func(d *table.Decoder, n *table.Node, c *ToolChange) {
		if len(c.Add)+len(c.Remove) == 0 {
			d.At(n, "", "a tool change needs add or remove")
		}
	})
}
