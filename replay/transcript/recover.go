package transcript

import (
	"bytes"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// A line that is not one JSON value is read as a chain of fragments and whole
// records. Where a record starts inside it, a seam, is found by the parser and
// never by searching text: a writer that died leaves a fragment cut off
// anywhere, the next writer adds its record, and the parser that reads on
// fails within two bytes of the seam. Of the fragment's last state, these are
// the cases, with | for the seam:
//
//	…"id":"n2"|{"type":…     it fails at the brace
//	…"role":"ass|{"type":…   the string ends in the record, it fails behind
//	…"parentId":|{"type":…   the record passes for a value: the object closed
//	                         last is the candidate, see nested
//
// Where none of them gives a record, the next `{"` is tried. Each try starts
// behind the failure of the one before, so a hostile line costs two or three
// times its length and no more.
//
// A recovered record must be an entry (see entryLike): the inner objects of a
// torn one have types, too. It must also reach the end of the line or be
// followed by the next record.
type recovery struct {
	p       *parser
	records []Entry
	notes   []Note
	seams   []int // where records and fragments start, but for the first
	end     int   // of the record found last
}

// recoverRecords splits the line that p has just failed to read.
func recoverRecords(p *parser) recovery {
	r := recovery{p: p}
	start := skipSpace(p.Data, 0)
	for start >= 0 {
		start = r.try(start)
	}
	return r
}

// try reads a record at start and returns where to try next, -1 if nowhere.
func (r *recovery) try(start int) int {
	var e Entry
	if r.parse(start, &e) {
		end := r.p.Pos
		if r.accept(start, end, &e) {
			r.add(start, end, e)
			if next := skipSpace(r.p.Data, end); next < len(r.p.Data) {
				return next
			}
			return -1
		}
		return nextRecord(r.p.Data, end)
	}
	at, from := r.p.At, max(start+1, r.end)
	if s := r.nested(from, at); s >= 0 {
		return s
	}
	if s := seamBefore(r.p.Data, from, at); s >= 0 {
		return s
	}
	if at >= len(r.p.Data) {
		return -1
	}
	return nextRecord(r.p.Data, max(from, at))
}

// parse reads one value at start; false if it fails or is no object.
func (r *recovery) parse(start int, e *Entry) bool {
	r.p.seek(start)
	if r.p.Peek() != '{' {
		r.p.Fail(start, "expected an object")
		return false
	}
	r.p.entry(e)
	return !r.p.Failed
}

// accept reports whether the object in [start, end) is a record.
func (r *recovery) accept(start, end int, e *Entry) bool {
	next := skipSpace(r.p.Data, end)
	adjoins := next == len(r.p.Data) || r.p.Data[next] == '{'
	if start == skipSpace(r.p.Data, r.end) {
		// At the start of the line, or behind a record, a write began: any
		// object will do unless what follows shows that it was an inner one.
		return adjoins || entryLike(e) && !bytes.ContainsRune([]byte("]},:"), rune(r.p.Data[next]))
	}
	return adjoins && entryLike(e)
}

func (r *recovery) add(start, end int, e Entry) {
	e.Raw = r.p.Data[start:end:end]
	r.records = append(r.records, e)
	for _, n := range r.p.notes {
		r.notes = addNote(r.notes, n)
	}
	if start > skipSpace(r.p.Data, 0) {
		r.seams = append(r.seams, start)
	}
	r.end = end
}

// nested returns the start of an object that ends where the parser failed and
// that is an entry in a place where the format has none.
func (r *recovery) nested(from, at int) int {
	start, end := r.p.ClosedFrom, r.p.ClosedTo
	if start < from || skipSpace(r.p.Data, end) != at {
		return -1
	}
	var e Entry
	if !r.parse(start, &e) || e.ID == "" && e.Header == nil {
		return -1
	}
	if partOf(e.Type) != nil || e.Type == TypeUsage || e.Type == TypeSessionInfo {
		return start
	}
	return -1
}

// seamBefore returns the offset of the brace at which, or in front of whose
// first key, the parser failed at offset at; -1 if there is none.
func seamBefore(b []byte, from, at int) int {
	if at < len(b) && b[at] == '{' && at >= from {
		return at
	}
	if at < from {
		return -1
	}
	before, quoted := bytes.CutSuffix(bytes.TrimRight(b[from:at], jsonx.Space), []byte(`"`))
	before, opened := bytes.CutSuffix(bytes.TrimRight(before, jsonx.Space), []byte("{"))
	if !quoted || !opened {
		return -1
	}
	return from + len(before)
}

// nextRecord returns the offset of the next brace that a key follows, or -1.
func nextRecord(b []byte, i int) int {
	for i < len(b) {
		k := bytes.IndexByte(b[i:], '{')
		if k < 0 {
			return -1
		}
		i += k
		if next := skipSpace(b, i+1); next < len(b) && b[next] == '"' {
			return i
		}
		i++
	}
	return -1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && jsonx.IsSpace(b[i]) {
		i++
	}
	return i
}

// entryLike reports whether e looks like an entry of some format rather than
// like an inner object of one.
func entryLike(e *Entry) bool {
	switch e.Type {
	case "", BlockText, BlockThinking, BlockToolCall, BlockImage:
		return false
	}
	return e.Header != nil || e.ID != "" || e.ParentID != "" || e.Timestamp != "" || e.Message != nil
}
