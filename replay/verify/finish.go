package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify/secret"
)

// end finishes the file: the tips are leaves now, and what hung in the air is
// decided.
func (e *engine) end() error {
	if e.damaged == nil && e.src.grew(e.read) {
		e.file.Growing = true
		e.note("the file became longer while it was read: its last lines may be half a turn")
	}
	if err := e.leafs(); err != nil {
		return err
	}
	e.resolveLinks()
	e.file.Altered = e.seal.altered(e.file.Header, e.options.Anchor)
	if rest := e.base.rest(e.file.Lines); rest != "" {
		e.file.Altered = append(e.file.Altered, rest)
	}
	e.pass.Path, e.pass.entry, e.pass.line = nil, nil, nil
	e.each(e.hooks.end, func(c *Checker) { c.End(&e.pass) })
	return e.base.close()
}

// leafs ends the paths: those that were followed while the file was read, or
// all paths of its tree if it is more than that.
func (e *engine) leafs() error {
	if moved := e.links.Settle(); moved || e.tangled {
		return e.walk()
	}
	for _, chain := range sortedKeys(e.paths) {
		e.path = e.paths[chain]
		e.leaf(e.path.tip(), true)
	}
	return nil
}

// leaf ends the path at its tip. What it has in common with paths that end
// later is judged there.
func (e *engine) leaf(tip uint32, active bool) {
	p := e.path
	if tip == none {
		return
	}
	e.pass.entry, e.pass.index, e.pass.Path, e.pass.Active = nil, tip, p, active
	if active {
		e.stated = e.stated || p.facts.Stated()
	}
	for _, c := range p.order.From(p.judged) {
		e.unanswered(c)
	}
	e.each(e.hooks.leaf, func(c *Checker) { c.Leaf(&e.pass) })
	e.pass.Active = false
}

// resolveLinks decides about the entries whose parent was not there: it may
// have come later, and then the links may form a ring.
func (e *engine) resolveLinks() {
	missing := e.links.Missing()
	for i := range missing {
		if at := e.links.Later(&missing[i]); at != none {
			e.file.Dangling[i].Later = e.links.Line(at)
		}
	}
	e.file.Dangling = slices.DeleteFunc(e.file.Dangling, func(d Dangling) bool { return e.links.InRing(d.index) })
	e.links.Rings(func(ring []uint32) {
		r := Ring{Place: e.placeAt(ring[0])}
		for _, i := range ring {
			if e.links.Parent(i) >= i {
				r.Lines = append(r.Lines, e.links.Line(i))
			}
		}
		e.file.Rings = append(e.file.Rings, r)
	})
}

// placeAt is the place of an entry that was read before.
func (e *engine) placeAt(i uint32) Place {
	at := Place{Line: e.links.Line(i), Column: 1, index: i}
	if en, err := e.entry(i); err == nil {
		at.Entry = strings.Clone(en.ID)
	}
	return at
}

// snippetSize is how much of a line a finding shows, in bytes.
const snippetSize = 120

// snippet shows the part of the line that a finding is about.
func (e *engine) snippet(f *Finding) {
	if f.Line <= 0 {
		return
	}
	at, ok := e.links.OffsetOf(f.Line)
	if !ok {
		return
	}
	start := max(0, f.Column-1)
	// More than is shown, so that a secret at the end is seen as a whole.
	line, err := e.again.Bytes(at+int64(start), 4*snippetSize)
	if err != nil {
		return
	}
	if e.secret == nil {
		e.secret = secret.New()
	}
	text := e.secret.Mask(string(trimLineEnd(line)))
	f.Snippet = strings.ToValidUTF8(text[:min(len(text), snippetSize)], "\uFFFD")
}

// nothing reports whether no entry was recognised behind the first line, and
// nothing was found.
func (e *engine) nothing() bool {
	return e.links.Len() == 0 && e.file.Lines > 1 && e.found.none()
}

func unknownSummary(name, seen string) Summary {
	s := Summary{File: name, Format: "unknown", Knowledge: Unknown, Seal: SealNone}
	if seen != "" {
		s.Notes = []string{"format unknown: this looks like " + seen}
	}
	return s
}

func (e *engine) summary() Summary {
	s := Summary{
		File: e.src.Name, Format: e.file.Format, Knowledge: e.file.source.Knowledge(e.file.Declares && e.stated),
		Entries: e.links.Len(), Branches: e.links.Leaves(), Seal: e.seal.result(), Digest: e.seal.digest(),
	}
	s.Notes = slices.Concat(e.knowledgeNotes(), e.notes.file, e.notes.paths, e.found.capped())
	return s
}

// knowledgeNotes says what cannot be known, once.
func (e *engine) knowledgeNotes() []string {
	var notes []string
	switch {
	case e.links.Len() == 0:
	case !e.file.Declares:
		notes = append(notes, "tools: unknown (the file records no declarations)")
	case !e.stated:
		notes = append(notes, "tools: unknown (no declaration is on the path to the last entry)")
	case e.unknown > 0:
		notes = append(notes, "tools: unknown for calls before the first declaration, such as on line "+itoa(e.unknown))
	}
	if n := len(e.untyped); n > 0 {
		lines := strings.Trim(fmt.Sprint(e.untyped), "[]")
		if n == maxUntyped {
			lines += " …"
		}
		notes = append(notes, "records without a type, of which nothing could be checked: line "+lines)
	}
	if h := e.file.Header; h != nil {
		if h.Version > 3 {
			notes = append(notes, "the session has version "+itoa(h.Version)+", this program knows up to 3: what is new in it was not checked")
		}
		if e.file.HeaderLine > 1 && e.file.source.Format.Has(foreign.Headers) {
			notes = append(notes, "the session's header is on line "+itoa(e.file.HeaderLine)+", pi refuses the file: it must be the first record")
		}
	}
	return notes
}

// Kept returns the place of the first entry that a compaction keeps, with line
// 0 if its pointer names nothing on the path, and whether it has a pointer at
// all.
func (p *Pass) Kept(c *transcript.Compaction) (first Place, pointed bool) {
	switch c.FirstKeptEntryID {
	case "":
		return Place{}, false
	case p.entry.ID:
		return p.place(), true
	}
	depth, ok := p.e.links.FirstOnPath(c.FirstKeptEntryID, p.Path.entries)
	if !ok {
		return Place{}, true
	}
	i := p.Path.entries[depth]
	return Place{Line: p.e.links.Line(i), index: i}, true
}

// severed is how many entries behind a place Severs looks at: results follow
// their calls.
const severedNearby = 64

// Severs returns the lines of a call and its result between which first, an
// entry of the path, stands. Calls of failed messages do not count. ok is
// false if there are none nearby. It reads entries again where calls were open
// at first, which is rare.
func (p *Pass) Severs(first Place) (call, result int, ok bool) {
	depth, on := p.e.links.OnPath(first.index)
	if !on || !p.e.links.HasMark(first.index, owed) {
		return 0, 0, false
	}
	after := p.Path.entries[depth:]
	for _, i := range after[:min(severedNearby, len(after))] {
		m := p.e.messageAt(i)
		if m == nil || m.Role != transcript.ToolResult {
			continue
		}
		at := p.e.uses.onPath(p.e.callKey(useCall, m.ToolCallID))
		if made, on := p.e.links.OnPath(at); on && made < depth {
			return p.e.links.Line(at), p.e.links.Line(i), true
		}
	}
	return 0, 0, false
}
