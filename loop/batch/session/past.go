package session

import (
	"fmt"
	"iter"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Past is what a transcript says about a task that an earlier process began.
// It follows the path to the last entry; nothing else of the file counts.
type Past struct {
	Runs    int             // turnlog.run entries
	Prompts int             // that were delivered
	Pending bool            // the last run has no prompt yet
	End     *transcript.End // of the last run; nil if it was interrupted

	Turns      int      // answers
	Calls      int      // intents
	Terminated bool     // the results of the last answer ended its turn, and no other one is open
	Results    []string // names of the tools that gave them, in order
	Delivered  []string // texts of the user messages

	taskDigest string
	wrote      bool // a tool with effects may have run
	last       exchange
}

// exchange is the calls of one answer, and what is known of them.
type exchange struct {
	calls   []*transcript.Call
	said    map[string]string // texts of the results that are messages
	intents map[string]transcript.CallIntent
	results map[string]transcript.CallResult
}

func newExchange(calls []*transcript.Call) exchange {
	return exchange{calls, map[string]string{}, map[string]transcript.CallIntent{}, map[string]transcript.CallResult{}}
}

// read takes in the lines of a transcript.
func (s *Session) read(lines iter.Seq2[transcript.Line, error]) error {
	tree, err := replay.Read(lines)
	if err != nil {
		return err
	}
	p := &Past{last: newExchange(nil)}
	s.header, s.past, s.ids = tree.Header, p, ids{}
	for i := range tree.Entries {
		s.ids[tree.Entries[i].ID] = true
	}
	last := len(tree.Entries) - 1
	s.history = tree.State(last)
	if last < 0 {
		return nil
	}
	for _, i := range tree.Path(last) {
		switch e := &tree.Entries[i]; {
		case e.Message != nil:
			p.message(e.Message)
		case e.Custom != nil:
			p.custom(e.Custom)
		}
	}
	s.leaf, s.runs, s.sealed, s.wrote = s.history.Leaf(), p.Runs, p.End != nil, p.wrote
	return nil
}

func (p *Past) message(m *transcript.Message) {
	switch m.Role {
	case transcript.ToolResult:
		p.Results = append(p.Results, m.ToolName)
		p.last.said[m.ToolCallID] = m.Text()
		return
	case transcript.User:
		if p.Pending {
			p.Prompts++
		} else {
			p.Delivered = append(p.Delivered, m.Text())
		}
		p.Pending = false
	case transcript.Assistant:
		p.Turns++
		p.last = newExchange(m.Calls())
	}
	p.Terminated = false
}

// custom reads an entry of ours. One that cannot be read says nothing: verify
// is there to complain.
func (p *Past) custom(c *transcript.Custom) {
	switch c.CustomType {
	case transcript.CustomRun:
		if run, ok := decode[transcript.Run](c); ok {
			p.Runs++
			p.End, p.taskDigest = nil, run.TaskDigest
			p.Pending = p.Pending || !run.Resumed
		}
	case transcript.CustomEnd:
		if end, ok := decode[transcript.End](c); ok {
			p.End = &end
		}
	case transcript.CustomTurn:
		if turn, ok := decode[transcript.TurnRecord](c); ok {
			p.Terminated = turn.Terminated
		}
	case transcript.CustomCall:
		if intent, ok := decode[transcript.CallIntent](c); ok {
			p.Calls++
			p.wrote = p.wrote || !intent.Repeatable()
			p.last.intents[intent.ToolCallID] = intent
		}
	case transcript.CustomResult:
		if result, ok := decode[transcript.CallResult](c); ok {
			p.last.results[result.ToolCallID] = result
		}
	}
}

func decode[T any](c *transcript.Custom) (v T, ok bool) {
	ok = c.Decode(&v) == nil
	return v, ok
}

// LastCalls are the calls of the last answer.
func (p *Past) LastCalls() []*transcript.Call { return p.last.calls }

// Said is the text of the result of a call of the last answer, "" if there is
// none.
func (p *Past) Said(id string) string {
	if text, ok := p.last.said[id]; ok {
		return text
	}
	recorded, ok := p.last.results[id]
	if !ok {
		return ""
	}
	result, err := loop.ParseResult(&recorded)
	if err != nil {
		return ""
	}
	m := transcript.Message{Content: result.Content}
	return m.Text()
}

// Recover decides about a call without a result: a recorded one is used; a
// call that never started, or that changes nothing, runs.
func (p *Past) Recover(c transcript.Call) loop.Recovery {
	if recorded, ok := p.last.results[c.ID]; ok {
		result, err := loop.ParseResult(&recorded)
		if err != nil {
			return loop.Recovery{Refuse: err.Error()}
		}
		return loop.Recovery{Result: &result, DurationMs: recorded.DurationMs}
	}
	intent, started := p.last.intents[c.ID]
	if !started || intent.Repeatable() {
		return loop.Recovery{}
	}
	return loop.Recovery{Refuse: fmt.Sprintf(
		"Interrupted, outcome unknown: the process ended while %s was running. It was not repeated, because its effects are %q; find out what it did before you call it again.",
		c.Name, intent.Effects)}
}
