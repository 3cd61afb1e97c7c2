package main

import (
	"bytes"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

func deepJSON(s *session, n int) {
	const levels = 9000 // the parser takes 10,000
	arguments := []byte(strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels))
	s.begin()
	s.ask()
	for i := range n {
		call := s.call(callID(i), "read")
		call.Call.Arguments = arguments
		s.reply(call)
		s.result(callID(i), "read")
	}
}

func tooDeep(s *session, n int) {
	s.begin()
	s.line(bytes.Repeat([]byte{'['}, n))
}

func hugeLine(s *session, n int) {
	s.begin()
	s.ask()
	s.reply(s.call(callID(0), "read"))
	s.message(transcript.Message{
		Role: transcript.ToolResult, ToolCallID: callID(0), ToolName: "read",
		Content: []transcript.Block{transcript.TextBlock(strings.Repeat("a line of text\n", n/16))}, // the line end is two bytes in JSON
	})
	s.reply()
}

func byteLines(s *session, n int) {
	s.begin()
	for range n {
		s.line([]byte{'x'})
	}
}

func blankLines(s *session, n int) {
	s.begin()
	for range n {
		s.line(nil)
	}
	s.ask()
}
