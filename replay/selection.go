package replay

import (
	"github.com/turnlog/turnlog/replay/internal/pmap"
	"github.com/turnlog/turnlog/replay/transcript"
)

// node is an entry of a path as the context sees it.
type node struct {
	before *node // on the path; only in a State
	at     int   // place on the path, from 0
	id     string
	line   int
	kind   nodeKind
	msg    *transcript.Message // what the entry says; the checkpoint's system message of a compaction; the replacement of an edit
	text   string              // summary of a compaction
	target string              // of an edit; first kept entry of a compaction
}

type nodeKind uint8

const (
	plainNode   nodeKind = iota // no part of the context
	messageNode                 // message, custom_message, branch_summary
	compactionNode
	editNode
)

func nodeOf(e *transcript.Entry) node {
	n := node{id: e.ID, line: e.Line}
	switch {
	case e.Message != nil:
		n.kind, n.msg = messageNode, e.Message
	case e.Type == transcript.TypeCustomMessage && e.Custom != nil && e.Custom.Message != nil:
		n.kind, n.msg = messageNode, e.Custom.Message
	case e.Branch != nil && e.Branch.Summary != "":
		n.kind, n.msg = messageNode, summaryMessage(transcript.BranchSummaryRole, e.Branch.Summary)
	case e.Compaction != nil:
		n.kind, n.msg, n.text, n.target = compactionNode, e.Compaction.SystemMessage, e.Compaction.Summary, e.Compaction.FirstKeptEntryID
	case e.Edit != nil:
		n.kind, n.msg, n.target = editNode, e.Edit.Replacement, e.Edit.TargetID
	}
	return n
}

// selection says which entries of a path are in effect, as pi 1.6.0 selects
// them: the latest compaction, what it kept without system messages, and what
// came after it; edits among those apply, the last one for each target.
type selection struct {
	edits      pmap.Map[string, edit] // by target
	compacted  bool
	compaction int    // place of the latest compaction
	id         string // its id
	kept       int    // place of the first entry that it kept; its own if it kept none
	epoch      int    // changes with everything that is no new message
}

type edit struct {
	at          int
	replacement *transcript.Message // nil takes the target out
}

// editOf gives the edit that applies to an entry.
func (s *selection) editOf(id string) (edit, bool) {
	if id == "" || s.edits.Len() == 0 {
		return edit{}, false
	}
	e, ok := s.edits.Get(id)
	return e, ok && (!s.compacted || e.at >= s.kept)
}

func (s *selection) drops(id string) bool {
	e, ok := s.editOf(id)
	return ok && e.replacement == nil
}

// message gives what a node adds to the context, nil for nothing. A compaction
// adds its checkpoint and its summary, see summary.
func (s *selection) message(n *node) *transcript.Message {
	if n.kind != messageNode || s.compacted && (n.at < s.kept || n.at < s.compaction && n.isSystem()) {
		return nil
	}
	e, ok := s.editOf(n.id)
	switch {
	case !ok:
		return n.msg
	case e.replacement == nil:
		return nil
	}
	return edited(n.msg, e.replacement)
}

// summary gives what the latest compaction adds to the context: its checkpoint
// if it has one, then its summary.
func (s *selection) summary(n *node) []*transcript.Message {
	if s.drops(n.id) {
		return nil
	}
	summary := summaryMessage(transcript.CompactionSummary, n.text)
	if n.msg == nil {
		return []*transcript.Message{summary}
	}
	return []*transcript.Message{n.msg, summary}
}

func (n *node) isSystem() bool {
	return n.kind == messageNode && n.msg.Role == transcript.System
}

// edited gives m the content of a replacement. Prompts and the records of
// commands keep theirs.
func edited(m, replacement *transcript.Message) *transcript.Message {
	switch m.Role {
	case transcript.User, transcript.Assistant, transcript.ToolResult, transcript.CustomRole:
	default:
		return m
	}
	now := *m
	now.Content, now.Form = replacement.Content, replacement.Form
	if m.Role == transcript.Assistant || m.Role == transcript.ToolResult {
		now.Form = transcript.FormBlocks
	}
	return &now
}

func summaryMessage(role transcript.Role, text string) *transcript.Message {
	return &transcript.Message{Role: role, Content: []transcript.Block{transcript.TextBlock(text)}}
}

// system is a message that the tools and the prompt are the sum of, or the
// compaction that they start from.
type system struct {
	before *system
	ids    pmap.Map[string, struct{}] // of this one and those before
	node   node
	tools  ToolSet // before this one
	prompt Prompt
}

// declare folds a system message.
func (f *Facts) declare(n *node) {
	f.push(n)
	f.stated = true
	if !f.sel.drops(n.id) {
		f.tools, f.prompt = f.tools.Apply(n.msg, n.line, n.id), f.prompt.Apply(n.msg)
	}
}

func (f *Facts) push(n *node) {
	s := &system{before: f.systems, node: *n, tools: f.tools, prompt: f.prompt}
	if f.systems != nil {
		s.ids = f.systems.ids
	}
	s.ids = s.ids.Set(n.id, struct{}{})
	f.systems = s
}

// compact starts the context anew with a compaction.
func (f *Facts) compact(n *node) {
	kept := n.at
	if n.target != "" && n.target != n.id && f.where != nil {
		if at, ok := f.where(n.target); ok && at < n.at {
			kept = at
		}
	}
	f.sel.compacted, f.sel.compaction, f.sel.id, f.sel.kept = true, n.at, n.id, kept
	f.sel.epoch++
	f.systems, f.prompt = nil, Prompt{}
	f.push(n)
	f.checkpoint(n)
	if n.msg == nil {
		f.bare = n.line
	} else {
		f.stated = true
	}
	f.last = Last{Line: n.line, Role: transcript.User, entry: n.id}
}

// checkpoint makes tools and prompt those that a compaction states.
func (f *Facts) checkpoint(n *node) {
	f.prompt = Prompt{}
	if n.msg == nil || f.sel.drops(n.id) {
		f.tools = f.tools.Replace(nil, n.line, n.id)
		return
	}
	f.tools = f.tools.Replace(n.msg, n.line, n.id)
	if n.msg.Role == transcript.System {
		f.prompt = f.prompt.Apply(n.msg)
	}
}

// edit changes what later requests see of an earlier entry.
func (f *Facts) edit(n *node) {
	if n.target == "" {
		return
	}
	f.sel.edits = f.sel.edits.Set(n.target, edit{n.at, n.msg})
	f.sel.epoch++
	if f.last.entry == n.target && n.msg == nil {
		f.last = Last{}
	}
	if f.systems == nil {
		return
	}
	if _, ok := f.systems.ids.Get(n.target); ok {
		f.refold(n)
	}
}

// refold sums the system messages from the target of an edit on up again. What
// is no longer declared counts as removed by the edit.
func (f *Facts) refold(n *node) {
	had := f.tools
	var again []*system
	from := 0
	for s := f.systems; s != nil; s = s.before {
		again = append(again, s)
		if s.node.id == n.target {
			from = len(again)
		}
	}
	again = again[:from]
	first := again[from-1]
	f.tools, f.prompt, f.systems = first.tools, first.prompt, first.before
	for i := range again {
		s := &again[len(again)-1-i].node
		f.push(s)
		switch {
		case s.kind == compactionNode:
			f.checkpoint(s)
		case !f.sel.drops(s.id):
			f.tools, f.prompt = f.tools.Apply(s.msg, s.line, s.id), f.prompt.Apply(s.msg)
		}
	}
	f.tools = f.tools.after(had, n.line, n.id)
}
