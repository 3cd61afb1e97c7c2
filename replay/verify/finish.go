package verify

import (
	"fmt"
	"slices"
	"strings"

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
	e.chains[e.chain] = e.path
	for _, chain := range sortedKeys(e.chains) {
		e.path = e.chains[chain]
		for _, c := range e.leafFindings(true) {
			e.found.add(c)
		}
	}
	for _, tip := range sortedIndexes(e.branch.leaves) {
		for _, c := range e.branch.leaves[tip] {
			e.found.add(c)
		}
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

func sortedIndexes[V any](m map[uint32]V) []uint32 {
	var keys []uint32
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// leafFindings ends the current path.
func (e *engine) leafFindings(active bool) []conditional {
	p := e.path
	if p.tip == none || e.pass.muted {
		return nil
	}
	var out []conditional
	e.found.leaf = &out
	e.pass.entry, e.pass.index, e.pass.Path, e.pass.Active = nil, p.tip, p, active
	for i := range p.late {
		e.each(e.hooks.unanswered, func(ch *Checker) { ch.Unanswered(&e.pass, &p.late[i]) })
	}
	for i := range p.calls {
		if c := &p.calls[i]; c.Answered == 0 && c.Duplicates == 0 && !c.Turn.Failed {
			e.each(e.hooks.unanswered, func(ch *Checker) { ch.Unanswered(&e.pass, c) })
		}
	}
	e.each(e.hooks.leaf, func(c *Checker) { c.Leaf(&e.pass) })
	e.found.leaf = nil
	e.pass.Active = false
	return out
}

// resolveLinks decides about the entries whose parent was not there: it may
// have come later, and then the links may form a ring.
func (e *engine) resolveLinks() {
	forward := make(map[uint32]uint32, len(e.file.Dangling)) // root to the root of its parent's path
	for i := range e.file.Dangling {
		d := &e.file.Dangling[i]
		if at := e.table.find(d.id); at != none {
			d.Later = int(e.table.row(at).line)
			forward[d.index] = e.rootOf(at)
		}
	}
	inRing := make(map[uint32]bool)
	for i := range e.file.Dangling {
		start := e.file.Dangling[i].index
		ring := ringFrom(forward, start)
		if ring == nil {
			continue
		}
		e.found.drop(start)
		if inRing[ring[0]] || !slices.Contains(ring, start) {
			continue
		}
		r := Ring{Place: e.file.Dangling[i].Place}
		for _, root := range ring {
			inRing[root] = true
			r.Lines = append(r.Lines, int(e.table.row(root).line))
		}
		slices.Sort(r.Lines)
		e.file.Rings = append(e.file.Rings, r)
	}
	e.file.Dangling = slices.DeleteFunc(e.file.Dangling, func(d Dangling) bool { return inRing[d.index] })
}

// rootOf climbs to the root of an entry.
func (e *engine) rootOf(i uint32) uint32 {
	for {
		r := e.table.row(i)
		switch {
		case r.jump != none:
			i = r.jump
		case r.parent != none:
			i = r.parent
		default:
			return i
		}
	}
}

// ringFrom follows forward links and returns the ring that they lead into, nil
// if they end.
func ringFrom(forward map[uint32]uint32, start uint32) []uint32 {
	seen := make(map[uint32]int)
	var way []uint32
	for at, ok := start, true; ok; at, ok = forward[at] {
		if from, again := seen[at]; again {
			return way[from:]
		}
		seen[at] = len(way)
		way = append(way, at)
	}
	return nil
}

// snippetSize is how much of a line a finding shows, in bytes.
const snippetSize = 120

// snippet shows the part of the line that a finding is about.
func (e *engine) snippet(f *Finding) {
	if f.Line <= 0 {
		return
	}
	i, ok := e.lineOffset(f.Line)
	if !ok {
		return
	}
	start := max(0, f.Column-1)
	// More than is shown, so that a secret at the end is seen as a whole.
	line, err := e.src.readLine(i+int64(start), 4*snippetSize)
	if err != nil {
		return
	}
	if e.secret == nil {
		e.secret = secret.New()
	}
	text := e.secret.Mask(string(trimLineEnd(line)))
	f.Snippet = strings.ToValidUTF8(text[:min(len(text), snippetSize)], "\uFFFD")
}

// lineOffset finds the offset of a line that holds an entry.
func (e *engine) lineOffset(line int) (int64, bool) {
	lo, hi := uint32(0), e.table.n
	for lo < hi {
		mid := lo + (hi-lo)/2
		if int(e.table.row(mid).line) < line {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < e.table.n && int(e.table.row(lo).line) == line {
		return e.table.row(lo).at(), true
	}
	return 0, false
}

// nothing reports whether no entry was recognised behind the first line, and
// nothing was found.
func (e *engine) nothing() bool {
	return e.table.n == 0 && e.file.Lines > 1 && len(e.found.list) == 0
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
		File: e.src.Name, Format: e.format.Name, Knowledge: Unknown,
		Entries: int(e.table.n), Seal: e.seal.result(), Digest: e.seal.digest(),
	}
	for i := range e.table.n {
		if e.table.row(i).flags&hasChild == 0 {
			s.Branches++
		}
	}
	if e.file.Declares {
		s.Knowledge = e.format.Knowledge
	}
	s.Notes = append(e.knowledgeNotes(), e.notes...)
	return s
}

// knowledgeNotes says what cannot be known, once.
func (e *engine) knowledgeNotes() []string {
	var notes []string
	switch {
	case e.table.n == 0:
	case !e.file.Declares:
		notes = append(notes, "tools: unknown (the file records no declarations)")
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
		if e.file.HeaderLine > 1 && e.format.Name != "events" {
			notes = append(notes, "the session's header is on line "+itoa(e.file.HeaderLine)+", pi refuses the file: it must be the first record")
		}
	}
	return notes
}

// placeInSequence keeps the order of records in version 1 files, whose
// compactions point at records by number.
func (e *engine) placeInSequence(i uint32, l link) []uint32 {
	if e.sequence == nil || !l.chained {
		return e.sequence
	}
	return append(e.sequence, i)
}

// Kept returns the place of the first entry that a compaction keeps, with line
// 0 if its pointer names nothing on the path, and whether it has a pointer at
// all.
func (p *Pass) Kept(c *transcript.Compaction) (first Place, pointed bool) {
	i := none
	switch {
	case c.FirstKeptEntryID != "" && c.FirstKeptEntryID == p.entry.ID:
		return p.place(), true
	case c.FirstKeptEntryID != "":
		i = p.e.table.find(p.e.table.fingerprint(c.FirstKeptEntryID))
	case c.FirstKeptIndex > 0 && c.FirstKeptIndex < len(p.e.sequence):
		i = p.e.sequence[c.FirstKeptIndex]
	default:
		return Place{}, false
	}
	if i == none || p.Path.tip == none || !p.e.table.isAncestor(i, p.Path.tip) {
		return Place{}, true
	}
	return Place{Line: int(p.e.table.row(i).line), index: i}, true
}

// Severs returns the lines of a call and its result between which first, an
// entry of the path, stands. Calls of failed messages do not count. ok is
// false if there are none. It reads entries again where calls were open at
// first, which is rare.
func (p *Pass) Severs(first Place) (call, result int, ok bool) {
	if first.index == none || p.e.table.row(first.index).flags&owed == 0 {
		return 0, 0, false
	}
	for i := p.Path.tip; i != none && i >= first.index; i = p.e.table.row(i).parent {
		m := p.e.messageAt(i)
		if m == nil || m.Role != transcript.ToolResult {
			continue
		}
		parent := p.e.table.row(i).parent
		at := p.e.uses.onPath(useKey(useCall, p.e.table.fingerprint(m.ToolCallID)), parent)
		if at != none && at < first.index {
			return int(p.e.table.row(at).line), int(p.e.table.row(i).line), true
		}
	}
	return 0, 0, false
}
