package transcript

import (
	"math"
	"strconv"
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

// ParseMessage reads a message from JSON bytes, which the message shares. The
// error is a *SyntaxError.
func ParseMessage(raw []byte) (Message, error) {
	var p parser
	var m Message
	p.reset(raw, nil, !utf8.Valid(raw))
	if p.Peek() == '{' {
		p.message(&m)
		p.End()
	} else {
		p.Unexpected("an object")
	}
	if p.Failed {
		return Message{}, p.syntaxError()
	}
	for i := range m.Content {
		if c := m.Content[i].Call; c != nil {
			c.Column = 0 // it is not in a line
		}
	}
	return m, nil
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
	for o := p.open(); p.pass(&o); {
		*e = newEntry(o.kind)
		for p.Next(&o.Object) {
			if o.Name != "type" {
				p.entryMember(&o, e)
				continue
			}
			e.Type = p.kindField(&o, hasMembers)
			if o.N == 1 {
				*e, o.keeps = newEntry(e.Type), e.Type == TypeSession
			}
		}
		if e.Header != nil {
			e.Header.Extra = o.extra
		}
		o.keeps = o.kind == TypeSession
	}
}

// newEntry returns an entry with the part that its type has.
func newEntry(kind string) Entry {
	e := Entry{Type: kind}
	switch kind {
	case TypeSession:
		e.Header = &Header{}
	case TypeModelChange:
		e.Model = &ModelChange{}
	case TypeCompaction:
		e.Compaction = &Compaction{FirstKeptIndex: -1}
	case TypeBranchSummary:
		e.Branch = &BranchSummary{}
	case TypeCustom:
		e.Custom = &Custom{}
	case TypeCustomMessage:
		e.Custom = &Custom{Message: &Message{Role: CustomRole, Form: FormAbsent}}
	case TypeContextEdit:
		e.Edit = &ContextEdit{}
	case TypeLabel:
		e.Label = &Label{}
	}
	return e
}

// hasMembers reports whether entries of a type have members of their own.
func hasMembers(kind string) bool {
	switch kind {
	case TypeSession, TypeMessage, TypeModelChange, TypeThinking, TypeCompaction, TypeBranchSummary,
		TypeCustom, TypeCustomMessage, TypeContextEdit, TypeLabel:
		return true
	}
	return false
}

// entryMember reads a member that all types have, or one of the type.
func (p *parser) entryMember(o *object, e *Entry) {
	switch o.Name {
	case "id":
		if e.Header != nil {
			p.field(o, &e.Header.ID)
		} else {
			p.field(o, &e.ID)
		}
		return
	case "parentId":
		if e.Header == nil {
			if p.Peek() == 'n' {
				p.Literal("null")
			} else {
				p.field(o, &e.ParentID)
			}
			return
		}
	case "timestamp":
		p.field(o, &e.Timestamp)
		return
	}
	if o.late && o.passes == 1 {
		p.Raw() // another pass follows, e has not the part of its type yet
	} else if !p.typeMember(o, e) {
		p.unknown(o)
	}
}

// typeMember reads a member of the entry's type; false if it has none such.
func (p *parser) typeMember(o *object, e *Entry) bool {
	switch o.kind {
	case TypeMessage:
		if o.Name == "message" {
			e.Message = p.messageField(o)
			return true
		}
	case TypeSession:
		return p.headerMember(o, e.Header)
	case TypeCompaction:
		return p.compactionMember(o, e.Compaction)
	case TypeCustom, TypeCustomMessage:
		return p.customMember(o, e.Custom)
	case TypeContextEdit:
		return p.editMember(o, e.Edit)
	case TypeModelChange:
		return p.oneOf(o, "provider", &e.Model.Provider, "modelId", &e.Model.ModelID)
	case TypeThinking:
		return p.oneOf(o, "thinkingLevel", &e.Thinking, "", nil)
	case TypeBranchSummary:
		return p.oneOf(o, "fromId", &e.Branch.FromID, "summary", &e.Branch.Summary)
	case TypeLabel:
		return p.oneOf(o, "targetId", &e.Label.TargetID, "label", &e.Label.Label)
	}
	return false
}

// oneOf reads the current member into a or b, whose name it has.
func (p *parser) oneOf(o *object, nameA string, a *string, nameB string, b *string) bool {
	switch {
	case o.Name == nameA:
		p.field(o, a)
	case o.Name == nameB && b != nil:
		p.field(o, b)
	default:
		return false
	}
	return true
}

func (p *parser) headerMember(o *object, h *Header) bool {
	switch o.Name {
	case "version":
		h.Version = p.version()
	case "cwd":
		p.field(o, &h.CWD)
	case "parentSession":
		p.field(o, &h.ParentSession)
	case "generator":
		if p.Peek() != '{' {
			p.misfit(o)
			break
		}
		h.Generator = &Generator{}
		for g := p.open(); p.pass(&g); {
			*h.Generator = Generator{}
			for p.Next(&g.Object) {
				p.generatorMember(&g, h.Generator)
			}
		}
	default:
		return false
	}
	return true
}

func (p *parser) generatorMember(o *object, g *Generator) {
	var n int64
	switch o.Name {
	case "name":
		p.field(o, &g.Name)
	case "version":
		p.field(o, &g.Version)
	case "format":
		if p.integer(o, &n) {
			g.Format = int(n)
		}
	default:
		p.unknown(o)
	}
}

// version reads the format version. One that is not understood becomes the
// greatest number: it must be refused as too new, not pass for the oldest.
func (p *parser) version() int {
	if p.Peek() == 'n' {
		p.Literal("null")
		return 0
	}
	v, err := strconv.Atoi(string(p.Value()))
	if err != nil {
		return math.MaxInt
	}
	return v
}

func (p *parser) compactionMember(o *object, c *Compaction) bool {
	var n int64
	switch o.Name {
	case "summary":
		p.field(o, &c.Summary)
	case "firstKeptEntryId":
		p.field(o, &c.FirstKeptEntryID)
	case "firstKeptEntryIndex":
		if p.integer(o, &n) {
			c.FirstKeptIndex = int(n)
		}
	case "tokensBefore":
		p.integer(o, &c.TokensBefore)
	case "systemMessage":
		c.SystemMessage = p.messageField(o)
	default:
		return false
	}
	return true
}

// customMember reads members of custom and custom_message. What the message
// of the latter shows beside its content goes where a message has it.
func (p *parser) customMember(o *object, c *Custom) bool {
	switch {
	case o.Name == "customType":
		p.field(o, &c.CustomType)
	case o.Name == "data" && c.Message == nil:
		c.Data = p.Raw()
	case o.Name == "content" && c.Message != nil:
		p.content(o, c.Message)
	case o.Name == "details" && c.Message != nil:
		c.Message.Details = p.Raw()
	case o.Name == "display" && c.Message != nil:
		c.Message.Extra = []Field{{Name: "display", Value: p.Raw()}}
	default:
		return false
	}
	return true
}

func (p *parser) editMember(o *object, c *ContextEdit) bool {
	switch o.Name {
	case "targetId":
		p.field(o, &c.TargetID)
	case "replacement":
		c.Replacement = p.messageField(o)
	default:
		return false
	}
	return true
}

// field reads the current member if it is a string; false if it is not.
func (p *parser) field(o *object, dst *string) bool {
	if p.Peek() != '"' {
		p.misfit(o)
		return false
	}
	*dst = p.Str()
	return true
}

// integer reads the current member if it is a whole number.
func (p *parser) integer(o *object, dst *int64) bool {
	p.Peek()
	start := p.Pos
	if n, end := smallInteger(p.Data, start); end > 0 {
		p.Pos, *dst = end, n
		return true
	}
	lit := string(p.Value())
	n, err := strconv.ParseInt(lit, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(lit, 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			p.Pos = start
			p.misfit(o)
			return false
		}
		n = int64(f)
	}
	*dst = n
	return true
}

// smallInteger reads an integer literal without sign of up to 15 digits, by
// far the most common; end is 0 if there is another value at i.
func smallInteger(b []byte, i int) (n int64, end int) {
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		n = n*10 + int64(b[i]-'0')
		i++
	}
	if i == start || i-start > 15 || i == len(b) || b[start] == '0' && i-start > 1 {
		return 0, 0
	}
	if c := b[i]; c != ',' && c != '}' {
		return 0, 0
	}
	return n, i
}

// float reads the current member if it is a number.
func (p *parser) float(o *object, dst *float64) bool {
	p.Peek()
	start := p.Pos
	if n, end := smallInteger(p.Data, start); end > 0 {
		p.Pos, *dst = end, float64(n)
		return true
	}
	f, err := strconv.ParseFloat(string(p.Value()), 64)
	if err != nil {
		p.Pos = start
		p.misfit(o)
		return false
	}
	*dst = f
	return true
}

// boolean reads the current member if it is true or false.
func (p *parser) boolean(o *object, dst *bool) bool {
	switch p.Peek() {
	case 't':
		p.Literal("true")
		*dst = true
	case 'f':
		p.Literal("false")
		*dst = false
	default:
		p.misfit(o)
		return false
	}
	return true
}
