package task

import (
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
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

func steeringTable() object[Steering] {
	return object[Steering]{
		name: "steering",
		keys: []key[Steering]{
			to("mode", oneOf(NextTurn, SkipRemaining), func(s *Steering) *string { return &s.Mode },
				"When a message takes effect while tools run: next_turn lets the batch finish (default), skip_remaining answers the calls that have not run with an error."),
			to("queue", oneOf(OneAtATime, All), func(s *Steering) *string { return &s.Queue },
				"How many waiting messages one poll delivers; default one_at_a_time."),
			to("messages", list(message()), func(s *Steering) *[]Message { return &s.Messages },
				"What is said, and when.").must(),
		},
	}
}

// steering also has a short form, the list of messages.
func steering() value[Steering] {
	short, long := list(message()), steeringTable().value(defaultSteering())
	return value[Steering]{
		schema: &schemaNode{AnyOf: []*schemaNode{short.schema, long.schema}},
		decode: func(d *decoder, n *yaml.Node) (Steering, bool) {
			if n.Kind != yaml.SequenceNode {
				return long.decode(d, n)
			}
			s, ok := defaultSteering(), false
			s.Messages, ok = short.decode(d, n)
			return s, ok
		},
	}
}

// message is a mapping, or only the text.
func message() value[Message] {
	table := object[Message]{
		name: "a steering message",
		keys: []key[Message]{
			to("when", when(), func(m *Message) *When { return &m.When }, "When the message is queued; without it at the start."),
			to("text", filled(), func(m *Message) *string { return &m.Text }, "What is said.").must(),
		},
	}
	short, long := filled(), table.value(Message{})
	return value[Message]{
		schema: &schemaNode{AnyOf: []*schemaNode{short.schema, long.schema}},
		decode: func(d *decoder, n *yaml.Node) (Message, bool) {
			if n.Kind == yaml.MappingNode {
				return long.decode(d, n)
			}
			s, ok := short.decode(d, n)
			return Message{Text: s}, ok
		},
	}
}

// when is one moment.
func when() value[When] {
	return object[When]{
		name: "when",
		keys: []key[When]{
			to("after_turn", integer(1, math.MaxInt32), func(w *When) *int { return &w.AfterTurn }, "After the end of this turn of the task, counted from 1."),
			to("after_tool", toolName(), func(w *When) *string { return &w.AfterTool }, "After a result of the tool of this name."),
			to("nth", integer(1, math.MaxInt32), func(w *When) *int { return &w.Nth }, "After its n-th result; default 1."),
		},
		check: func(d *decoder, n *yaml.Node, w *When) {
			switch {
			case (w.AfterTurn != 0) == (w.AfterTool != ""):
				d.at(n, "", "when needs either after_turn or after_tool")
			case w.AfterTool == "" && w.Nth != 0:
				d.at(n, "", "nth counts results of after_tool")
			case w.AfterTool != "":
				w.Nth = max(w.Nth, 1)
			}
		},
	}.value(When{})
}

// toolName is the name of a tool that the task has at some time.
func toolName() value[string] {
	return value[string]{
		schema: &schemaNode{Type: "string", MinLength: 1},
		decode: func(d *decoder, n *yaml.Node) (string, bool) {
			name, ok := filled().decode(d, n)
			if ok {
				d.later(func() { d.checkToolName(n, name, nil) })
			}
			return name, ok
		},
	}
}

// checkToolName reports a name that no tool of the task can have, and that is
// none of others. What an MCP server offers is not known before it runs.
func (d *decoder) checkToolName(n *yaml.Node, name string, others []string) {
	if d.tools[name] || slices.Contains(others, name) || strings.HasPrefix(name, "mcp__") && d.servers[serverOf(name)] {
		return
	}
	d.at(n, suggest(name, append(d.toolNames(), others...), "tools"), "the task has no tool %s", quoted(name))
}

// toolChangeTable has no default for when: a change at the start is what
// tools says.
func toolChangeTable() object[ToolChange] {
	return object[ToolChange]{
		name: "a tool change",
		keys: []key[ToolChange]{
			to("when", when(), func(c *ToolChange) *When { return &c.When }, "When the tools change.").must(),
			to("add", nonEmpty(list(addedTool())), func(c *ToolChange) *[]Tool { return &c.Add },
				"Tools that the agent gets: as in tools, or the name of a tool that was removed."),
			to("remove", nonEmpty(list(toolName())), func(c *ToolChange) *[]string { return &c.Remove }, "Names of tools that go."),
		},
		check: func(d *decoder, n *yaml.Node, c *ToolChange) {
			if len(c.Add)+len(c.Remove) == 0 {
				d.at(n, "", "a tool change needs add or remove")
			}
		},
	}
}
