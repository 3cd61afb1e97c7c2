package main

import "github.com/turnlog/turnlog/replay/transcript"

// say appends a question or an answer, in turns.
func (s *session) say(i int) {
	if i%2 == 0 {
		s.ask()
	} else {
		s.reply()
	}
}

func chain(s *session, n int) {
	s.begin()
	for i := range n {
		s.say(i)
	}
}

// link appends a message with links of its own.
func (s *session) link(id, parent string, i int) {
	m := transcript.UserText(s.text())
	if i%2 == 1 {
		m = s.answerOf()
	}
	m.Timestamp = s.now.UnixMilli()
	s.put(transcript.Entry{Type: transcript.TypeMessage, ID: id, ParentID: parent, Message: &m})
}

func laterParents(s *session, n int) {
	s.line([]byte(sessionHeader))
	for s.n = 1; s.n < n; s.n++ {
		s.link(idOf(s.n), idOf(s.n+1), n-s.n)
	}
	s.link(idOf(n), "", 0)
}

func ring(s *session, n int) {
	s.line([]byte(sessionHeader))
	for s.n = 1; s.n <= n; s.n++ {
		s.link(idOf(s.n), idOf(s.n%n+1), s.n)
	}
}

func comb(s *session, n int) {
	s.begin()
	for i := range n {
		s.say(i)
		trunk := s.parent
		s.say(i + 1)
		s.parent = trunk
	}
}

// trunk appends n messages and returns their ids.
func (s *session) trunk(n int) []string {
	ids := make([]string, n)
	for i := range n {
		s.say(i)
		ids[i] = s.parent
	}
	return ids
}

func combBack(s *session, n int) {
	s.begin()
	ids := s.trunk(n)
	for i := n - 1; i >= 0; i-- {
		s.parent = ids[i]
		s.say(i + 1)
	}
}

func combScattered(s *session, n int) {
	s.begin()
	ids := s.trunk(n)
	for _, i := range s.rng.Perm(n) {
		s.parent = ids[i]
		s.say(i + 1)
	}
}

func longComb(s *session, n int) {
	const length = 300
	s.begin()
	for at := 0; at < n; at += 2 * length {
		from := s.parent
		for i := range length {
			s.say(i)
		}
		trunk := s.parent
		s.parent = from
		for i := range length {
			s.say(i)
		}
		s.parent = trunk
	}
}

func roots(s *session, n int) {
	s.line([]byte(sessionHeader))
	for range n {
		s.parent = ""
		s.ask()
		s.reply()
	}
}

func doubledIDs(s *session, n int) {
	s.begin()
	for i := range n {
		parent := s.parent
		s.say(i)
		s.link(s.parent, parent, i)
	}
}

func oneID(s *session, n int) {
	s.line([]byte(sessionHeader))
	for s.n = 1; s.n <= n; s.n++ {
		s.link("same", "", 0)
	}
}
