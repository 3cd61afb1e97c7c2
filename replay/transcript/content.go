package transcript

import "encoding/json"

// blockMembers are the members of blocks, by type. A block of another type has
// none.
var blockMembers = map[string]*table[Block]{
	BlockText: {members: []member[Block]{
		always("text", func(b *Block) *string { return &b.Text }),
		text("textSignature", func(b *Block) *string { return &b.Signature }),
	}},
	BlockThinking: {members: []member[Block]{
		always("thinking", func(b *Block) *string { return &b.Text }),
		text("thinkingSignature", func(b *Block) *string { return &b.Signature }),
	}},
	BlockImage: {members: []member[Block]{
		always("data", func(b *Block) *string { return &b.Data }),
		always("mimeType", func(b *Block) *string { return &b.MimeType }),
	}},
	BlockToolCall: {members: []member[Block]{
		always("id", func(b *Block) *string { return &b.Call.ID }).when(hasCall),
		always("name", func(b *Block) *string { return &b.Call.Name }).when(hasCall),
		of("arguments", func(b *Block) *json.RawMessage { return &b.Call.Arguments }, (*parser).arguments, writer.arguments).when(hasCall),
		text("argumentsError", func(b *Block) *string { return &b.Call.ArgumentsError }).when(hasCall),
		text("thoughtSignature", func(b *Block) *string { return &b.Signature }),
	}},
}

func hasCall(b *Block) bool { return b.Call != nil }

func (p *parser) arguments(_ *object, to *json.RawMessage) bool {
	p.Ints = true
	*to = p.Raw()
	p.Ints = false
	return true
}

func (w writer) arguments(name string, v json.RawMessage) writer {
	if v == nil {
		v = json.RawMessage("{}")
	}
	return w.raw(name, v)
}

// content reads content in any of its forms.
func (p *parser) content(o *object, m *Message) bool {
	switch p.Peek() {
	case '"':
		m.Form = FormString
		if s := p.Str(); s != "" {
			m.Content = copies(p.loan, &p.loan.blocks, TextBlock(s))
		}
	case '[':
		m.Form = FormBlocks
		m.Content = p.blockList()
	case 'n':
		m.Form = FormNull
		p.Literal("null")
	default:
		return p.misfit(o)
	}
	return true
}

// noObject is the name of the only Extra field of a block that is no object
// in the file. No key can be equal to it: keys are valid UTF-8.
const noObject = "\xff"

// blockList reads an array of blocks. They are collected in a buffer of the
// parser, so that the slice is made once and exactly.
func (p *parser) blockList() []Block {
	for n := 0; p.Item(n); n++ {
		p.blocks = append(p.blocks, Block{})
		b := &p.blocks[n]
		if p.Peek() == '{' {
			p.block(b)
		} else {
			b.Extra = []Field{{Name: noObject, Value: p.Raw()}}
		}
	}
	if p.Failed || len(p.blocks) == 0 {
		return nil
	}
	list := copies(p.loan, &p.loan.blocks, p.blocks...)
	clear(p.blocks)
	p.blocks = p.blocks[:0]
	return list
}

// block reads the block object at the position.
func (p *parser) block(b *Block) {
	column := p.column(p.Pos)
	for o := p.open(); p.pass(o); {
		o.keeps = true
		*b = Block{}
		members := p.setType(b, o.kind, column)
		for p.Next(&o.Object) {
			switch {
			case o.Name == "type":
				members = p.setType(b, p.kindField(o, func(string) bool { return true }), column)
			case !members.member(p, o, b):
				p.unknown(o)
			}
		}
		b.Extra = o.extra
	}
}

func (p *parser) setType(b *Block, kind string, column int) *table[Block] {
	if b.Type = kind; kind == BlockToolCall && b.Call == nil {
		b.Call = zero(p.loan, &p.loan.calls)
		b.Call.Column = column
	}
	return blockMembers[kind]
}

// content writes content in its form, as far as it still fits.
func (w writer) content(m *Message) writer {
	switch {
	case len(m.Content) == 0 && (m.Form == FormAbsent || m.Bash != nil && m.Form == FormBlocks):
		return w
	case len(m.Content) == 0 && m.Form == FormNull:
		return w.raw("content", null)
	case m.Form == FormString && (len(m.Content) == 0 || len(m.Content) == 1 && isPlain(&m.Content[0])):
		return w.string("content", m.Text())
	case len(m.Content) == 0:
		return w.raw("content", []byte("[]"))
	}
	return array(w, "content", m.Content, AppendBlock)
}

func isPlain(b *Block) bool {
	return b.Type == BlockText && b.Signature == "" && len(b.Extra) == 0
}

// AppendBlock appends one block of content as JSON.
func AppendBlock(dst []byte, b *Block) []byte {
	if len(b.Extra) == 1 && b.Extra[0].Name == noObject {
		return append(dst, b.Extra[0].Value...)
	}
	w := writer{dst, b.Extra}.open().text("type", b.Type)
	return blockMembers[b.Type].write(w, b).close().b
}
