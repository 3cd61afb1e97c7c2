package transcript

import (
	"encoding/json"
	"math"
	"strconv"
)

// part is what entries of a type have beside the members of all entries.
type part struct {
	kind  string
	has   func(e *Entry) bool
	start func(e *Entry)
	read  func(p *parser, o *object, e *Entry) bool
	write func(w writer, e *Entry) writer
}

// parts are those of all types that the format interprets.
var parts = []part{
	own(TypeMessage, &messageMember, func(e *Entry) bool { return e.Message != nil }, func(*Entry) {}),
	own(TypeThinking, &thinkingMember, func(e *Entry) bool { return e.Type == TypeThinking }, func(*Entry) {}),
	own(TypeSession, &headerMembers, func(e *Entry) bool { return e.Header != nil }, func(e *Entry) { e.Header = &Header{} }),
	at(TypeModelChange, &modelMembers, func(e *Entry) **ModelChange { return &e.Model }),
	at(TypeBranchSummary, &branchMembers, func(e *Entry) **BranchSummary { return &e.Branch }),
	at(TypeContextEdit, &editMembers, func(e *Entry) **ContextEdit { return &e.Edit }),
	at(TypeLabel, &labelMembers, func(e *Entry) **Label { return &e.Label }),
	at(TypeCompaction, &compactionMembers, func(e *Entry) **Compaction { return &e.Compaction }).
		from(func(e *Entry) { e.Compaction = &Compaction{FirstKeptIndex: -1} }),
	at(TypeCustomMessage, &customMessageMembers, func(e *Entry) **Custom { return &e.Custom }).
		from(func(e *Entry) { e.Custom = &Custom{Message: &Message{Role: CustomRole, Form: FormAbsent}} }).
		with(func(e *Entry) bool { return e.Custom != nil && e.Custom.Message != nil }),
	at(TypeCustom, &customMembers, func(e *Entry) **Custom { return &e.Custom }),
}

// partOf returns the part of a type, nil if it has none.
func partOf(kind string) *part {
	for i := range parts {
		if parts[i].kind == kind {
			return &parts[i]
		}
	}
	return nil
}

// own is a part whose members are those of the entry itself.
func own(kind string, t *table[Entry], has func(*Entry) bool, start func(*Entry)) part {
	return part{kind, has, start, t.member, t.write}
}

// at is a part that has a place in the entry.
func at[T any](kind string, t *table[T], at func(*Entry) **T) part {
	return part{
		kind,
		func(e *Entry) bool { return *at(e) != nil },
		func(e *Entry) { *at(e) = new(T) },
		func(p *parser, o *object, e *Entry) bool { return t.member(p, o, *at(e)) },
		func(w writer, e *Entry) writer { return t.write(w, *at(e)) },
	}
}

func (p part) from(start func(*Entry)) part    { p.start = start; return p }
func (p part) with(has func(*Entry) bool) part { p.has = has; return p }

// The members of entries, and of what is inside of them except for messages.
var (
	entryMembers = table[Entry]{members: []member[Entry]{
		always("id", func(e *Entry) *string { return &e.ID }),
		of("parentId", func(e *Entry) *string { return &e.ParentID }, (*parser).parent, writer.parent),
		text("timestamp", func(e *Entry) *string { return &e.Timestamp }),
	}}
	headerMembers = table[Entry]{members: []member[Entry]{
		of("version", func(e *Entry) *int { return &e.Header.Version }, (*parser).version, writer.whole).
			when(func(e *Entry) bool { return e.Header.Version != 0 }),
		always("id", func(e *Entry) *string { return &e.Header.ID }),
		text("timestamp", func(e *Entry) *string { return &e.Timestamp }),
		always("cwd", func(e *Entry) *string { return &e.Header.CWD }),
		text("parentSession", func(e *Entry) *string { return &e.Header.ParentSession }),
		maybe("generator", func(e *Entry) **Generator { return &e.Header.Generator }, generatorMembers.read,
			func(w writer, name string, g Generator) writer { return generatorMembers.put(w, name, &g) }),
	}}
	generatorMembers = table[Generator]{members: []member[Generator]{
		always("name", func(g *Generator) *string { return &g.Name }),
		always("version", func(g *Generator) *string { return &g.Version }),
		of("format", func(g *Generator) *int { return &g.Format }, (*parser).whole, writer.whole),
	}}
	messageMember = table[Entry]{members: []member[Entry]{
		nested("message", func(e *Entry) **Message { return &e.Message }),
	}}
	thinkingMember = table[Entry]{members: []member[Entry]{
		always("thinkingLevel", func(e *Entry) *string { return &e.Thinking }),
	}}
	modelMembers = table[ModelChange]{members: []member[ModelChange]{
		always("provider", func(c *ModelChange) *string { return &c.Provider }),
		always("modelId", func(c *ModelChange) *string { return &c.ModelID }),
	}}
	compactionMembers = table[Compaction]{members: []member[Compaction]{
		always("summary", func(c *Compaction) *string { return &c.Summary }),
		always("firstKeptEntryId", func(c *Compaction) *string { return &c.FirstKeptEntryID }).
			when(func(c *Compaction) bool { return c.FirstKeptEntryID != "" || c.FirstKeptIndex <= 0 }),
		of("firstKeptEntryIndex", func(c *Compaction) *int { return &c.FirstKeptIndex }, (*parser).whole, writer.whole).
			when(func(c *Compaction) bool { return c.FirstKeptEntryID == "" && c.FirstKeptIndex > 0 }),
		number("tokensBefore", func(c *Compaction) *int64 { return &c.TokensBefore }),
		nested("systemMessage", func(c *Compaction) **Message { return &c.SystemMessage }),
	}}
	branchMembers = table[BranchSummary]{members: []member[BranchSummary]{
		always("fromId", func(b *BranchSummary) *string { return &b.FromID }),
		always("summary", func(b *BranchSummary) *string { return &b.Summary }),
	}}
	customMembers = table[Custom]{members: []member[Custom]{
		always("customType", func(c *Custom) *string { return &c.CustomType }),
		free("data", func(c *Custom) *json.RawMessage { return &c.Data }),
	}}
	// What the message of a custom_message shows beside its content goes where
	// a message has it.
	customMessageMembers = table[Custom]{members: []member[Custom]{
		always("customType", func(c *Custom) *string { return &c.CustomType }),
		{
			"content", func(p *parser, o *object, c *Custom) bool { return p.content(o, c.Message) },
			func(w writer, c *Custom) writer { return w.content(c.Message) },
		},
		{"display", func(p *parser, _ *object, c *Custom) bool {
			c.Message.Extra = []Field{{Name: "display", Value: p.Raw()}}
			return true
		}, func(w writer, c *Custom) writer { return w.fields(c.Message.Extra) }},
		free("details", func(c *Custom) *json.RawMessage { return &c.Message.Details }),
	}}
	editMembers = table[ContextEdit]{members: []member[ContextEdit]{
		always("targetId", func(c *ContextEdit) *string { return &c.TargetID }),
		of("replacement", func(c *ContextEdit) **Message { return &c.Replacement }, (*parser).nested, writer.replacement),
	}}
	labelMembers = table[Label]{members: []member[Label]{
		always("targetId", func(l *Label) *string { return &l.TargetID }),
		text("label", func(l *Label) *string { return &l.Label }),
	}}
)

func (p *parser) parent(o *object, id *string) bool {
	if p.Peek() == 'n' {
		p.Literal("null")
		return true
	}
	return p.field(o, id)
}

func (w writer) parent(name, id string) writer {
	if id == "" {
		return w.raw(name, null)
	}
	return w.string(name, id)
}

// version reads the format version. One that is not understood becomes the
// greatest number: it must be refused as too new, not pass for the oldest.
func (p *parser) version(_ *object, v *int) bool {
	if p.Peek() == 'n' {
		p.Literal("null")
		return true
	}
	var err error
	if *v, err = strconv.Atoi(string(p.Value())); err != nil {
		*v = math.MaxInt
	}
	return true
}

func (w writer) replacement(name string, m *Message) writer {
	if m == nil {
		return w.raw(name, null)
	}
	w = w.key(name).open().content(m)
	w.b = append(w.b, '}')
	return w
}

var null = json.RawMessage("null")
