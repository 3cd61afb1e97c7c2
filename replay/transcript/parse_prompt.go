package transcript

// sections reads the named parts of a prompt. Their names are data, so names
// that differ by case are two sections. If one is neither text nor null, the
// member as a whole is passed through.
func (p *parser) sections(o *object, m *Message) {
	start, notes := p.Pos, len(p.notes)
	if p.Peek() != '{' {
		p.misfit(o)
		return
	}
	fits := true
	for in := p.open(); p.pass(&in); {
		m.Sections, fits = nil, true
		for p.Next(&in.Object) {
			s := Section{Name: in.Name}
			switch p.Peek() {
			case '"':
				s.Text = p.Str()
			case 'n':
				p.Literal("null")
				s.Removed = true
			default:
				p.Value()
				fits = false
			}
			m.Sections = append(m.Sections, s)
		}
	}
	if !fits && !p.Failed {
		m.Sections = nil
		p.Pos, p.notes = start, p.notes[:notes]
		p.misfit(o)
	}
}

// toolsAdded reads declarations; items that are no objects declare nothing.
func (p *parser) toolsAdded(o *object, m *Message) {
	if p.Peek() != '[' {
		p.misfit(o)
		return
	}
	for n := 0; p.Item(n); n++ {
		if p.Peek() != '{' {
			p.Value()
			continue
		}
		var t Tool
		p.tool(&t)
		m.ToolsAdded = append(m.ToolsAdded, t)
	}
}

func (p *parser) tool(t *Tool) {
	for o := p.open(); p.pass(&o); {
		o.keeps = true
		*t = Tool{}
		for p.Next(&o.Object) {
			switch o.Name {
			case "name":
				p.field(&o, &t.Name)
			case "description":
				p.field(&o, &t.Description)
			case "parameters":
				t.Parameters = p.Raw()
			default:
				p.unknown(&o)
			}
		}
		t.Extra = o.extra
	}
}

// toolsRemoved reads names; items that are no objects remove nothing.
func (p *parser) toolsRemoved(o *object, m *Message) {
	if p.Peek() != '[' {
		p.misfit(o)
		return
	}
	for n := 0; p.Item(n); n++ {
		if p.Peek() != '{' {
			p.Value()
			continue
		}
		var ref ToolRef
		for in := p.open(); p.pass(&in); {
			ref = ToolRef{}
			for p.Next(&in.Object) {
				if in.Name == "name" {
					p.field(&in, &ref.Name)
				} else {
					p.unknown(&in)
				}
			}
		}
		m.ToolsRemoved = append(m.ToolsRemoved, ref)
	}
}
