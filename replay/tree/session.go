package tree

import (
	"iter"
	"strconv"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Part is a step of reading a file: a physical line, or a value of a document,
// and the records that it completes.
type Part struct {
	Line    *transcript.Line // nil in a document that has no lines
	Records []Record         // valid until the next part
}

// Session reads the lines of a session file, whose records are entries as they
// stand. Files are never changed: what older versions of the format leave out
// exists in memory only. Version 1 has neither ids nor parents, so its entries
// follow one another under made-up names, and its compactions point at records
// by number; version 2 called one role differently. The zero value is ready.
type Session struct {
	seen  bool // a header; a later one says nothing of the entries
	old   bool // version 1
	newer bool // a later one, in which an entry without id and parent is a root
	now   bool // version 3 or later
	names []string
	part  []Record
}

// Part gives the records of a line.
func (s *Session) Part(l *transcript.Line) Part {
	s.part = s.part[:0]
	for i := range l.Records {
		r := Record{Entry: &l.Records[i], Offset: l.Offset, N: i}
		s.record(&r)
		s.part = append(s.part, r)
	}
	return Part{Line: l, Records: s.part}
}

func (s *Session) record(r *Record) {
	e := r.Entry
	if e.Type == transcript.TypeSession && !s.seen {
		s.seen = true
		s.old = e.Header != nil && e.Header.Version < 2
		s.newer, s.now = !s.old, e.Header != nil && e.Header.Version > 2
	}
	r.Follows = !s.newer && e.ID == "" && e.ParentID == ""
	if e.Message != nil && e.Message.Role == "hookMessage" && !s.now {
		e.Message.Role = transcript.CustomRole
	}
	if !s.old {
		return
	}
	if e.Type != transcript.TypeSession && e.ID == "" {
		r.Name = NameOf(r)
		if c := e.Compaction; c != nil && c.FirstKeptEntryID == "" && c.FirstKeptIndex > 0 && c.FirstKeptIndex < len(s.names) {
			c.FirstKeptEntryID = s.names[c.FirstKeptIndex]
		}
	}
	s.names = append(s.names, r.Name)
}

// NameOf makes up a name for an entry without an id: "line-7", and "line-7.2"
// for the second record of that line.
func NameOf(r *Record) string {
	name := "line-" + strconv.Itoa(r.Entry.Line)
	if r.N > 0 {
		name += "." + strconv.Itoa(r.N+1)
	}
	return name
}

// Sessions reads the lines of a session file as parts.
func Sessions(lines iter.Seq2[transcript.Line, error]) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		var s Session
		for l, err := range lines {
			if !yield(s.Part(&l), err) {
				return
			}
		}
	}
}

// Until gives the parts up to a line, and reads no further.
func Until(parts iter.Seq2[Part, error], line int) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		for p, err := range parts {
			if !yield(p, err) || p.Line != nil && p.Line.No >= line {
				return
			}
		}
	}
}
