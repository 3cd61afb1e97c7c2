package rule

import (
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

// ending follows what the records of a file say about its runs: whether they
// have ended.
type ending struct {
	open   map[string]bool // tasks of an event log whose agent has started
	logged bool            // an agent_end was read
	sealed bool            // nothing was said since a turnlog.end
}

func (n *ending) read(l *transcript.Line) {
	for i := range l.Records {
		e := &l.Records[i]
		switch {
		case e.Message != nil:
			n.sealed = false
		case e.Custom != nil:
			n.sealed = e.Custom.CustomType == transcript.CustomEnd || n.sealed && e.Custom.CustomType != transcript.CustomRun
		case e.Type == foreign.EventAgentStart, e.Type == foreign.EventAgentEnd:
			n.event(e)
		}
	}
}

func (n *ending) event(e *transcript.Entry) {
	event, err := foreign.ParseEvent(e.Raw)
	if err != nil {
		return
	}
	if e.Type == foreign.EventAgentStart {
		if n.open == nil {
			n.open = make(map[string]bool)
		}
		n.open[event.Task] = true
		return
	}
	delete(n.open, event.Task)
	n.logged = true
}

// log reports whether an event log says that all its runs ended.
func (n *ending) log() bool { return n.logged && len(n.open) == 0 }

// run reports whether the file says that its runs ended.
func (n *ending) run() bool { return n.sealed || n.log() }
