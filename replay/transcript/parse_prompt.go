package transcript

// sections reads the named parts of a prompt. Their names are data, so names
// that differ by case are two sections. If one is neither text nor null, the
// member as a whole is passed through.
func (p *parser) sections(o *object, m *Message) {
	start, notes := p.i, len(p.notes)
	if p.peek() != '{' {
		p.misfit(o)
		return
	}
	fits := true
	for in := p.open(); p.pass(&in); {
		m.Sections, fits = nil, true
		for p.next(&in) {
			s := Section{Name: in.name}
			switch p.peek() {
			case '"':
				s.Text = p.str()
			case 'n':
				p.literal("null")
				s.Removed = true
			default:
				p.value()
				fits = false
			}
			m.Sections = append(m.Sections, s)
		}
	}
	if !fits && !p.failed {
		m.Sections = nil
		p.i, p.notes = start, p.notes[:notes]
		p.misfit(o)
	}
}

// toolsAdded reads declarations; items that are no objects declare nothing.
func (p *parser) toolsAdded(o *object, m *Message) {
	if p.peek() != '[' {
		p.misfit(o)
		return
	}
	for n := 0; p.item(n); n++ {
		if p.peek() != '{' {
			p.value()
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
		for p.next(&o) {
			switch o.name {
			case "name":
				p.field(&o, &t.Name)
			case "description":
				p.field(&o, &t.Description)
			case "parameters":
				t.Parameters = p.raw()
			default:
				p.unknown(&o)
			}
		}
		t.Extra = o.extra
	}
}

// toolsRemoved reads names; items that are no objects remove nothing.
func (p *parser) toolsRemoved(o *object, m *Message) {
	if p.peek() != '[' {
		p.misfit(o)
		return
	}
	for n := 0; p.item(n); n++ {
		if p.peek() != '{' {
			p.value()
			continue
		}
		var ref ToolRef
		for in := p.open(); p.pass(&in); {
			ref = ToolRef{}
			for p.next(&in) {
				if in.name == "name" {
					p.field(&in, &ref.Name)
				} else {
					p.unknown(&in)
				}
			}
		}
		m.ToolsRemoved = append(m.ToolsRemoved, ref)
	}
}
