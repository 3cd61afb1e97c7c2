package main

import (
	"fmt"

	"github.com/turnlog/turnlog/replay/transcript"
)

func callID(i int) string { return fmt.Sprintf("call_%d", i) }

func unanswered(s *session, n int) {
	s.begin()
	for i := range n {
		s.ask()
		s.reply(s.call(callID(i), "read"))
	}
}

func unansweredWide(s *session, n int) {
	s.begin()
	s.ask()
	s.replyWide(n)
	s.ask()
	s.reply()
}

func wide(s *session, n int) {
	s.begin()
	s.ask()
	s.replyWide(n)
	for i := range n {
		s.result(callID(i), "read")
	}
	s.reply()
}

func (s *session) replyWide(n int) {
	calls := make([]transcript.Block, n)
	for i := range calls {
		calls[i] = transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{
			ID: callID(i), Name: "read", Arguments: fmt.Appendf(nil, `{"path":"src/file%d.go"}`, i),
		}}
	}
	s.reply(calls...)
}

func undeclared(s *session, n int) {
	s.begin()
	s.ask()
	for i := range n {
		s.reply(s.call(callID(i), "conjure"))
		s.result(callID(i), "conjure")
	}
}

func orphaned(s *session, n int) {
	s.begin()
	s.ask()
	for i := range n {
		s.result(callID(i), "read")
	}
}

func doubledCalls(s *session, n int) {
	s.begin()
	s.ask()
	for i := range n {
		s.reply(s.call(callID(i), "read"), s.call(callID(i), "ls"))
		s.result(callID(i), "read")
		s.result(callID(i), "ls")
	}
}

func reusedCalls(s *session, n int) {
	s.begin()
	s.ask()
	for range n {
		s.reply(s.call(callID(0), "read"))
		s.result(callID(0), "read")
	}
}

func mismatched(s *session, n int) {
	s.begin()
	s.ask()
	for i := range n {
		s.reply(s.call(callID(i), "read"))
		s.result(callID(i), "write")
	}
}
