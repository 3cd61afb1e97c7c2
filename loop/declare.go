package loop

import (
	"slices"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// declare returns pending with what has to be said so that the model knows
// exactly the executable tools: the last pending system message states the
// difference, or a new system message in front does. What other pending
// system messages declare counts as said.
func (r *run) declare(pending []transcript.Message) []transcript.Message {
	at := lastSystem(pending)
	if at < 0 && r.tools.declared {
		return pending
	}
	base := r.view
	if at >= 0 {
		base = r.view.Clone()
		for i, m := range pending {
			if i == at {
				m.ToolsAdded, m.ToolsRemoved = nil, nil
			}
			if m.Role == transcript.System {
				base.Append(m)
			}
		}
	}
	added, removed := replay.ToolDelta(base.ToolSet().Tools(), r.tools.declarations())
	r.tools.declared = true
	changed := len(added) > 0 || len(removed) > 0
	switch {
	case at >= 0:
		if changed || len(pending[at].ToolsAdded) > 0 || len(pending[at].ToolsRemoved) > 0 {
			pending = slices.Clone(pending)
			pending[at].ToolsAdded, pending[at].ToolsRemoved = added, removed
		}
	case changed:
		update := transcript.Message{
			Role: transcript.System, Form: transcript.FormString,
			ToolsAdded: added, ToolsRemoved: removed,
		}
		// No pending message is a system message, so the first place is
		// before the first one that is not.
		pending = slices.Insert(slices.Clone(pending), 0, update)
	}
	return pending
}

func lastSystem(ms []transcript.Message) int {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].Role == transcript.System {
			return i
		}
	}
	return -1
}
