package replay

import (
	"crypto/sha256"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/internal/pmap"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Prompt is the system text at a point of a history. Like [ToolSet] it is a
// value that shares what did not change with those before it; the zero value
// is the empty prompt.
type Prompt struct {
	content *paragraph                 // of all system messages so far
	names   pmap.Map[string, *section] // those that are in effect
	order   pmap.Map[int, *section]
	next    int  // place of the next section
	stated  bool // whether there was a system message at all
}

// paragraph is what one system message added to the base text.
type paragraph struct {
	before *paragraph
	text   string
	hash   hash.Cloner // over the base text up to here
}

type section struct {
	transcript.Section
	place int
}

// Apply folds one system message: its content is added to the base text, its
// sections are patched by name. A section that was removed and comes back
// moves to the end.
func (p Prompt) Apply(m *transcript.Message) Prompt {
	p.stated = true
	if text := m.Text(); text != "" {
		p.content = p.content.add(text)
	}
	for _, s := range m.Sections {
		was, _ := p.names.Get(s.Name)
		switch {
		case s.Removed && was != nil:
			p.names, p.order = p.names.Delete(s.Name), p.order.Delete(was.place)
		case s.Removed:
		case was != nil:
			p.set(&section{s, was.place})
		default:
			p.set(&section{s, p.next})
			p.next++
		}
	}
	return p
}

func (p *Prompt) set(s *section) {
	p.names, p.order = p.names.Set(s.Name, s), p.order.Set(s.place, s)
}

func (p *paragraph) add(text string) *paragraph {
	next := &paragraph{before: p, text: text, hash: p.hashed()}
	if p != nil {
		text = paragraphBreak + text
	}
	_, _ = io.WriteString(next.hash, text) // a hash takes everything
	return next
}

// hashed is the hash of the text up to p, to be written on.
func (p *paragraph) hashed() hash.Cloner {
	h := sha256.New().(hash.Cloner)
	if p == nil {
		return h
	}
	h, err := p.hash.Clone()
	if err != nil {
		panic("clone a SHA-256: " + err.Error()) // those of the standard library can be cloned
	}
	return h
}

// Content is the base text, without the sections.
func (p Prompt) Content() string {
	var texts []string
	for at := p.content; at != nil; at = at.before {
		texts = append(texts, at.text)
	}
	slices.Reverse(texts)
	return strings.Join(texts, paragraphBreak)
}

// ContentSum is the SHA-256 of the base text, which need not be put together
// for it.
func (p Prompt) ContentSum() (sum [sha256.Size]byte) {
	p.content.hashed().Sum(sum[:0])
	return sum
}

// Section finds a named part, and its place: the order of two places is that of
// the parts.
func (p Prompt) Section(name string) (s transcript.Section, place int, ok bool) {
	if at, ok := p.names.Get(name); ok {
		return at.Section, at.place, true
	}
	return s, 0, false
}

// Changes returns, sorted, the names of sections that p and other take from
// different messages, or that only one of them has. Of two prompts of one
// history it takes O(log n) for each.
func (p Prompt) Changes(other Prompt) []string {
	return slices.Collect(pmap.Changes(p.names, other.names))
}

// same reports whether q is the same prompt of the same history. It may say no
// to an equal one of another.
func (p Prompt) same(q Prompt) bool {
	if p.content != q.content {
		return false
	}
	for range pmap.Changes(p.order, q.order) {
		return false
	}
	return true
}

// Sections returns the named parts in order.
func (p Prompt) Sections() []transcript.Section {
	var list []transcript.Section
	for _, s := range p.order.All() {
		list = append(list, s.Section)
	}
	return list
}

// Text is the whole system text: the base text, then the sections.
func (p Prompt) Text() string {
	texts := []string{p.Content()}
	for _, s := range p.order.All() {
		texts = append(texts, s.Text)
	}
	return joinParagraphs(texts)
}

// UpdateText is the text of one system message as a model sees it in place:
// its content, then what it changes in the sections.
func UpdateText(m *transcript.Message) string {
	texts := []string{m.Text()}
	for _, s := range m.Sections {
		if s.Removed {
			texts = append(texts, `Removed system prompt section "`+s.Name+`".`)
		} else {
			texts = append(texts, `Updated system prompt section "`+s.Name+"\":"+paragraphBreak+s.Text)
		}
	}
	return joinParagraphs(texts)
}

const paragraphBreak = "\n\n"

func joinParagraphs(texts []string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	return strings.Join(texts, paragraphBreak)
}
