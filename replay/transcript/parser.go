package transcript

import (
	"slices"
	"strings"
	"unicode"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// parser decodes one line in one pass. One parser serves many lines; what it
// decodes never shares its buffers, but for those of a loan.
type parser struct {
	jsonx.Scanner

	notes  []Note  // found so far
	gaps   []gap   // where bytes were taken out of the line
	own    loan    // not lent
	loan   *loan   // takes what is decoded
	blocks []Block // of the content being read

	objects []*object // to be used again
	opened  int       // how many of them are
}

// gap is a place of the data before which bytes of the physical line are
// missing; missing counts those of earlier gaps, too.
type gap struct{ off, missing int }

// reset makes p read b. Columns count the gaps in.
func (p *parser) reset(b []byte, gaps []gap, dirty bool) {
	if p.Odd == nil {
		p.Odd = p.oddity
	}
	if p.loan == nil {
		p.loan = &p.own
	}
	p.gaps, p.notes, p.blocks = gaps, p.notes[:0], p.blocks[:0]
	p.Reset(b, dirty)
}

// seek starts a new record at offset i.
func (p *parser) seek(i int) {
	p.Seek(i)
	p.notes, p.blocks = p.notes[:0], p.blocks[:0]
}

// lend makes p decode into m.
func (p *parser) lend(m *loan) {
	p.loan, p.Arena = m, nil
	if m.lent {
		p.Arena = &m.text
	}
}

// syntaxError is the failure of p.
func (p *parser) syntaxError() *SyntaxError {
	return &SyntaxError{Column: p.column(p.At), Msg: p.Msg}
}

// column is the column in the physical line of offset i.
func (p *parser) column(i int) int {
	if len(p.gaps) == 0 {
		return i + 1
	}
	k, _ := slices.BinarySearchFunc(p.gaps, i+1, func(g gap, i int) int { return g.off - i })
	if k > 0 {
		i += p.gaps[k-1].missing
	}
	return i + 1
}

// object is the state of reading one object:
//
//	for o := p.open(); p.pass(o); {
//		for p.Next(&o.Object) {
//			switch o.Name { … }
//		}
//	}
//
// pass goes over an object a second time in two rare cases, so that members
// may come in any order and of a repeated key the last counts, as in
// JavaScript: when the member that says what the others mean (type, role)
// stood behind one of them, and when a key was repeated.
type object struct {
	jsonx.Object

	kind  string  // value of the member that says what the others mean
	keeps bool    // whether extra is wanted
	extra []Field // members that are not interpreted

	notes  int // notes before it
	passes int
	at     int  // where to look in a table next
	late   bool // kind was found late
	odd    bool // has a member that is not interpreted
}

// open enters the object at the position.
func (p *parser) open() *object {
	if p.opened == len(p.objects) {
		p.objects = append(p.objects, new(object))
	}
	o := p.objects[p.opened]
	p.opened++
	*o = object{Object: p.Open(), notes: len(p.notes)}
	return o
}

// pass starts the next pass over an object, see there.
func (p *parser) pass(o *object) bool {
	o.passes++
	switch {
	case p.Failed:
		p.opened--
		return false
	case o.passes == 1:
		return true
	case o.passes == 2 && (o.late || len(o.Repeats) > 0):
		p.Reopen(&o.Object)
		p.notes, o.extra = p.notes[:o.notes], nil
		return true
	}
	if o.odd {
		p.checkFolding(o)
	}
	p.opened--
	return false
}

// checkFolding notes keys that differ only by case. Readers that match names
// without case (encoding/json does) take one for the other.
func (p *parser) checkFolding(o *object) {
	names := make(map[string]bool, o.N)
	for name, at := range p.Keys(&o.Object) {
		folded := strings.Map(foldRune, name)
		if names[folded] {
			p.note(FoldedKey, at, strings.Clone(name))
		}
		names[folded] = true
	}
}

// foldRune maps all runes that differ only by case to one of them.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// kindField reads the current member, which says what the others mean. matters
// reports whether a kind gives them a meaning: only then is it worth another
// pass that some of them came first.
func (p *parser) kindField(o *object, matters func(kind string) bool) string {
	kind := ""
	if p.Peek() == '"' {
		kind = known(p.Str())
	} else {
		p.misfit(o)
	}
	if o.passes < 2 && o.N > 1 && (matters(kind) || o.kind != kind) {
		o.late = true
	}
	o.kind = kind
	return kind
}

// unknown passes over a member that is not interpreted.
func (p *parser) unknown(o *object) {
	p.Free++
	p.misfit(o)
	p.Free--
}

// misfit passes over a member whose value has another type than the format
// says: the typed field stays zero. It returns false.
func (p *parser) misfit(o *object) bool {
	o.odd = true
	name := o.Name
	v := p.Value()
	if o.keeps && !p.Failed {
		o.extra = append(o.extra, Field{Name: name, Value: v})
	}
	return false
}
