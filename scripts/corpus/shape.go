package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// shape is a kind of file that is hostile, or honest and large in one way.
type shape struct {
	name  string
	small int    // of the benchmark, whose large size is ten times that
	what  string // what n counts
	write func(s *session, n int)
}

// shapes is the table. Small sizes are such that a reader whose work is
// proportional to its input takes a few seconds for ten times as much.
func shapes() []shape {
	return []shape{
		{"unanswered", 10_000, "answers with a call that has no result", unanswered},
		{"unanswered-wide", 10_000, "calls of one answer, none with a result", unansweredWide},
		{"wide", 10_000, "calls of one answer, all with their results", wide},
		{"undeclared", 10_000, "calls of a tool that nothing declares", undeclared},
		{"orphaned", 20_000, "results that no call asked for", orphaned},
		{"doubled-calls", 10_000, "answers with two calls of one id, and both results", doubledCalls},
		{"reused-calls", 10_000, "answers that call with the id of the first one", reusedCalls},
		{"mismatched", 10_000, "results that name another tool than their call", mismatched},

		{"chain", 20_000, "messages, each the child of the one before", chain},
		{"later-parents", 20_000, "messages, each the child of the one behind it", laterParents},
		{"ring", 20_000, "messages of one ring of parents", ring},
		{"comb", 10_000, "messages, each with a branch that is left at once", comb},
		{"comb-back", 10_000, "messages, then a branch of each, the last one first", combBack},
		{"comb-scattered", 10_000, "messages, then a branch of each, in no order", combScattered},
		{"long-comb", 20_000, "messages, half of them in branches of 300", longComb},
		{"roots", 10_000, "histories of two messages, each with its own root", roots},
		{"doubled-ids", 10_000, "pairs of messages that share an id", doubledIDs},
		{"one-id", 20_000, "messages, all with one id and no parent", oneID},

		{"equal-messages", 10_000, "questions and answers, all the same", equalMessages},
		{"growing-tools", 400, "system messages, each with one tool more", growingTools},
		{"churning-tools", 2_000, "system messages, each with one tool in and one out", churningTools},
		{"edits", 2_000, "edits, each of which drops an earlier message", edits},
		{"edits-between", 2_000, "answers, each dropped by an edit before the next one", editsBetween},
		{"compactions", 2_000, "compactions, each of which keeps the last two messages", compactions},
		{"sealed-runs", 2_000, "sealed runs of one file", sealedRuns},
		{"events", 1_000, "tasks of an event log, all at the same time", eventLog},

		{"deep-json", 200, "calls whose arguments are 9,000 levels deep", deepJSON},
		{"too-deep", 2_000_000, "levels of one line, more than any parser takes", tooDeep},
		{"huge-line", 6_000_000, "bytes of one line", hugeLine},
		{"byte-lines", 200_000, "lines of one byte that is no record", byteLines},
		{"blank-lines", 1_000_000, "blank lines", blankLines},
	}
}

func findShape(name string) (shape, error) {
	var names []string
	for _, one := range shapes() {
		if one.name == name {
			return one, nil
		}
		names = append(names, one.name)
	}
	return shape{}, fmt.Errorf("no shape is called %q: want one of %s", name, strings.Join(names, ", "))
}

func listShapes(w io.Writer) error {
	for _, one := range shapes() {
		if _, err := fmt.Fprintf(w, "%s\t%d\t%s\n", one.name, one.small, one.what); err != nil {
			return err
		}
	}
	return nil
}

func (sh shape) to(w io.Writer, n int, seed uint64) error {
	s := newSession(w, seed)
	sh.write(s, n)
	return s.err
}

// begin writes the header, the model and a prompt with the eight tools.
func (s *session) begin() {
	s.line([]byte(sessionHeader))
	s.add(transcript.Entry{Type: transcript.TypeModelChange, Model: &transcript.ModelChange{Provider: "demo", ModelID: "demo-1"}})
	s.declare(s.tools(), nil)
}

func (s *session) declare(added []transcript.Tool, removed []transcript.ToolRef) {
	s.message(transcript.Message{Role: transcript.System, Form: transcript.FormString, ToolsAdded: added, ToolsRemoved: removed})
}

func (s *session) ask() { s.message(transcript.UserText(s.text())) }

// reply answers, with calls or with a few words.
func (s *session) reply(calls ...transcript.Block) { s.message(s.answerOf(calls...)) }

func (s *session) answerOf(calls ...transcript.Block) transcript.Message {
	m := transcript.Message{
		Role: transcript.Assistant, API: "openai-completions", Provider: "demo", Model: "demo-1",
		ResponseID: fmt.Sprintf("resp-%d", s.n), StopReason: transcript.StopToolUse, RawStopReason: "tool_calls", Content: calls,
	}
	if len(calls) == 0 {
		m.StopReason, m.RawStopReason = transcript.StopEnd, "stop"
		m.Content = []transcript.Block{transcript.TextBlock(s.text())}
	}
	return m
}

func (s *session) result(id, tool string) {
	s.message(transcript.Message{
		Role: transcript.ToolResult, ToolCallID: id, ToolName: tool, Content: []transcript.Block{transcript.TextBlock(s.text())},
	})
}

// text is one that no other entry has.
func (s *session) text() string { return fmt.Sprintf("%d %s", s.n, s.prose(20)) }

// call is one that no other entry makes.
func (s *session) call(id, tool string) transcript.Block {
	return transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{
		ID: id, Name: tool, Arguments: fmt.Appendf(nil, `{"path":"src/file%d.go"}`, s.n),
	}}
}
