package replay

import (
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Prompt is the system text at a point of a history. Like [ToolSet] it is a
// value whose zero value is the empty prompt.
type Prompt struct {
	content  string // of all system messages so far
	sections []transcript.Section
	stated   bool // whether there was a system message at all
}

// Apply folds one system message: its content is added to the base text, its
// sections are patched by name. A section that was removed and comes back
// moves to the end.
func (p Prompt) Apply(m *transcript.Message) Prompt {
	p.stated = true
	if text := m.Text(); text != "" {
		p.content = joinParagraphs(p.content, text)
	}
	if len(m.Sections) == 0 {
		return p
	}
	p.sections = slices.Clone(p.sections)
	for _, s := range m.Sections {
		i := slices.IndexFunc(p.sections, func(have transcript.Section) bool { return have.Name == s.Name })
		switch {
		case s.Removed && i >= 0:
			p.sections = slices.Delete(p.sections, i, i+1)
		case s.Removed:
		case i >= 0:
			p.sections[i] = s
		default:
			p.sections = append(p.sections, s)
		}
	}
	return p
}

// Content is the base text, without the sections.
func (p Prompt) Content() string { return p.content }

// Sections returns the named parts in order. The slice is shared.
func (p Prompt) Sections() []transcript.Section { return p.sections }

// Text is the whole system text: the base text, then the sections.
func (p Prompt) Text() string {
	text := p.content
	for _, s := range p.sections {
		text = joinParagraphs(text, s.Text)
	}
	return text
}

// UpdateText is the text of one system message as a model sees it in place:
// its content, then what it changes in the sections.
func UpdateText(m *transcript.Message) string {
	text := m.Text()
	for _, s := range m.Sections {
		if s.Removed {
			text = joinParagraphs(text, `Removed system prompt section "`+s.Name+`".`)
		} else {
			text = joinParagraphs(text, `Updated system prompt section "`+s.Name+"\":\n\n"+s.Text)
		}
	}
	return text
}

func joinParagraphs(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	var sb strings.Builder
	sb.Grow(len(a) + len(b) + 2)
	sb.WriteString(a)
	sb.WriteString("\n\n")
	sb.WriteString(b)
	return sb.String()
}
