package transcript

import (
	"bytes"
	"unicode/utf8"
)

// ParseEntry reads one record from JSON bytes, which it keeps as Raw and
// shares with the strings of the entry: they must not change. A record that is
// no object gives an Entry with nothing but Raw. The error is a *SyntaxError.
func ParseEntry(raw []byte) (Entry, error) {
	var p parser
	var e Entry
	p.reset(raw, nil, !utf8.Valid(raw))
	p.record(&e)
	p.End()
	if p.Failed {
		return Entry{}, p.syntaxError()
	}
	e.Raw = raw
	return e, nil
}

// AppendEntry appends e as one JSON object without line end: Raw if it is
// there, else its fields in the order that pi writes them.
func AppendEntry(dst []byte, e *Entry) []byte {
	if e.Raw != nil {
		return append(dst, e.Raw...)
	}
	w := writer{b: dst}.open().string("type", e.Type)
	if e.Header != nil {
		w.extra = e.Header.Extra
	} else {
		w = entryMembers.write(w, e)
	}
	for i := range parts {
		if parts[i].has(e) {
			w = parts[i].write(w, e)
			break
		}
	}
	return w.close().b
}

// MarshalJSON implements [encoding/json.Marshaler] with [AppendEntry]. Marshal
// writes <, > and & in its own way; a [Writer] keeps them as they are.
func (e Entry) MarshalJSON() ([]byte, error) { return AppendEntry(nil, &e), nil }

// UnmarshalJSON implements [encoding/json.Unmarshaler] with [ParseEntry].
func (e *Entry) UnmarshalJSON(b []byte) (err error) {
	*e, err = ParseEntry(bytes.Clone(b))
	return err
}

// record reads the value at the position, into e if it is an object.
func (p *parser) record(e *Entry) {
	if p.Peek() == '{' {
		p.entry(e)
		return
	}
	p.Value()
}

// entry reads the object at the position.
func (p *parser) entry(e *Entry) {
	for o := p.open(); p.pass(o); {
		part := newEntry(o.kind, e)
		for p.Next(&o.Object) {
			if o.Name != "type" {
				p.entryMember(o, e, part)
				continue
			}
			e.Type = p.kindField(o, func(kind string) bool { return partOf(kind) != nil })
			if o.N == 1 {
				part, o.keeps = newEntry(e.Type, e), e.Type == TypeSession
			}
		}
		if e.Header != nil {
			e.Header.Extra = o.extra
		}
		o.keeps = o.kind == TypeSession
	}
}

// newEntry makes e an entry of a type that has nothing else yet.
func newEntry(kind string, e *Entry) *part {
	*e = Entry{Type: kind}
	part := partOf(kind)
	if part != nil {
		part.start(e)
	}
	return part
}

// entryMember reads a member that all types have, or one of the type.
func (p *parser) entryMember(o *object, e *Entry, part *part) {
	switch {
	case e.Header == nil && entryMembers.member(p, o, e):
	case o.late && o.passes == 1:
		p.Raw() // another pass follows, e has not the part of its type yet
	case part == nil || !part.read(p, o, e):
		p.unknown(o)
	}
}
