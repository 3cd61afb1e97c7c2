package batch

import (
	"fmt"
	"iter"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// past is what a transcript says about a task that an earlier process began.
// It follows the path to the last entry; nothing else of the file counts.
type past struct {
	state      *replay.State
	header     *transcript.Entry
	ids        ids
	taskDigest string

	runs    int             // turnlog.run entries
	prompts int             // prompts that were delivered
	pending bool            // the last run has no prompt yet
	end     *transcript.End // of the last run; nil if it was interrupted

	turn *transcript.TurnRecord // of the last answer; nil while its turn, or the next one, is open

	turns     int      // answers
	calls     int      // intents
	wrote     bool     // a tool with effects may have run
	toolNames []string // of the results, in order
	delivered []string // texts of the user messages

	// The calls of the last answer, and what is known of them.
	answer  []*transcript.Call
	texts   map[string]string // of the results that are messages
	intents map[string]transcript.CallIntent
	results map[string]transcript.CallResult
}

// readPast reads the lines of a transcript.
func readPast(lines iter.Seq2[transcript.Line, error]) (*past, error) {
	tree, err := replay.Read(lines)
	if err != nil {
		return nil, err
	}
	p := &past{header: tree.Header, ids: ids{}}
	for i := range tree.Entries {
		p.ids[tree.Entries[i].ID] = true
	}
	last := len(tree.Entries) - 1
	p.state = tree.State(last)
	if last < 0 {
		return p, nil
	}
	for _, i := range tree.Path(last) {
		p.entry(&tree.Entries[i])
	}
	return p, nil
}

func (p *past) entry(e *transcript.Entry) {
	switch {
	case e.Message != nil:
		p.message(e.Message)
	case e.Custom != nil:
		p.custom(e.Custom)
	}
}

func (p *past) message(m *transcript.Message) {
	if m.Role != transcript.ToolResult {
		p.turn = nil
	}
	switch m.Role {
	case transcript.User:
		if p.pending {
			p.pending = false
			p.prompts++
			return
		}
		p.delivered = append(p.delivered, m.Text())
	case transcript.Assistant:
		p.turns++
		p.answer, p.texts = m.Calls(), map[string]string{}
		p.intents, p.results = map[string]transcript.CallIntent{}, map[string]transcript.CallResult{}
	case transcript.ToolResult:
		p.toolNames = append(p.toolNames, m.ToolName)
		if p.texts != nil {
			p.texts[m.ToolCallID] = m.Text()
		}
	}
}

// custom reads an entry of ours. One that cannot be read says nothing: verify
// is there to complain.
func (p *past) custom(c *transcript.Custom) {
	switch c.CustomType {
	case transcript.CustomRun:
		var run transcript.Run
		if c.Decode(&run) != nil {
			return
		}
		p.runs++
		p.end = nil
		p.taskDigest = run.TaskDigest
		p.pending = p.pending || !run.Resumed
	case transcript.CustomEnd:
		var end transcript.End
		if c.Decode(&end) == nil {
			p.end = &end
		}
	case transcript.CustomTurn:
		var turn transcript.TurnRecord
		if c.Decode(&turn) == nil {
			p.turn = &turn
		}
	case transcript.CustomCall:
		var intent transcript.CallIntent
		if c.Decode(&intent) != nil {
			return
		}
		p.calls++
		p.wrote = p.wrote || !repeatable(intent.Effects)
		if p.intents != nil {
			p.intents[intent.ToolCallID] = intent
		}
	case transcript.CustomResult:
		var result transcript.CallResult
		if c.Decode(&result) == nil && p.results != nil {
			p.results[result.ToolCallID] = result
		}
	}
}

// said is the text of the result of a call of the last answer, "" if there is
// none.
func (p *past) said(id string) string {
	if text, ok := p.texts[id]; ok {
		return text
	}
	recorded, ok := p.results[id]
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

// repeatable reports whether a call may run again without anybody knowing
// whether it ran.
func repeatable(effects string) bool {
	return effects == string(loop.None) || effects == string(loop.Read)
}

// recover decides about a call without a result: a recorded one is used; a
// call that never started, or that changes nothing, runs.
func (p *past) recover(c transcript.Call) loop.Recovery {
	if recorded, ok := p.results[c.ID]; ok {
		result, err := loop.ParseResult(&recorded)
		if err != nil {
			return loop.Recovery{Refuse: err.Error()}
		}
		return loop.Recovery{Result: &result, DurationMs: recorded.DurationMs}
	}
	intent, started := p.intents[c.ID]
	if !started || repeatable(intent.Effects) {
		return loop.Recovery{}
	}
	return loop.Recovery{Refuse: fmt.Sprintf(
		"Interrupted, outcome unknown: the process ended while %s was running. It was not repeated, because its effects are %q; find out what it did before you call it again.",
		c.Name, intent.Effects)}
}
