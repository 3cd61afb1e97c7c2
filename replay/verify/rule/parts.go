package rule

import (
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify"
)

// parts holds back what is missing in an assistant message until it is sure
// that no further part of the same answer brings it. Answers without a
// response id are one message each.
type parts struct {
	open    bool // the last message may have further parts
	fine    bool // some part so far is fine
	finding *verify.Finding
}

func (s *parts) Clone() verify.Memory { c := *s; return &c }

// message takes in a message of the path. fine says that nothing is missing;
// else fault makes the finding, or nil.
func (s *parts) message(p *verify.Pass, m *transcript.Message, fine bool, fault func() *verify.Finding) {
	t := p.Turn()
	if t == nil || !t.Continues {
		s.flush(p)
		*s = parts{}
	}
	if t == nil {
		return
	}
	s.fine = s.fine || fine
	if s.fine {
		s.finding = nil
	} else if s.finding == nil {
		s.finding = fault()
	}
	if s.open = m.ResponseID != ""; !s.open {
		s.flush(p)
	}
}

// flush reports what is still missing.
func (s *parts) flush(p *verify.Pass) {
	if s.finding != nil {
		p.ReportIf(*s.finding, unlessExplained)
		s.finding = nil
	}
}
