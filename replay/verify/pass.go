package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

// File is what is known of the file as a whole. Facts about what comes later
// are complete in [Checker.End] and in the conditions of [Pass.ReportIf].
type File struct {
	Format      string
	Header      *transcript.Header // nil if there is none, or none yet
	HeaderLine  int
	Lines       int
	Declares    bool // some message or checkpoint declares tools
	Checkpoints bool // some compaction states the tools
	Durations   bool // some result says how long its tool ran
	Slice       bool // see Options
	Finished    bool // see Options
	Growing     bool // the file became longer while it was read: a run is going on

	// TornAt is the line of the last damaged line, 0 if there is none.
	TornAt int

	// Unread is the last line that was too long to be read, 0 if there is none:
	// what seems to be lost may be there.
	Unread int

	// Altered says what shows that the file as a whole is not what it was: an
	// anchor, a base that goes on, a header that is not that of its runs.
	Altered []string

	explained explained
	source    *foreign.File

	// Dangling are the entries whose parent is not in the file or only later
	// in it; Rings the rings that parent links form.
	Dangling []Dangling
	Rings    []Ring
}

// explained are lines of which a rule has said more. Those of paths are found
// anew if the tree is walked.
type explained struct{ file, paths map[int]bool }

// Explained reports whether a rule has said that it explains what weaker rules
// found about a line. It is complete at the end of the file.
func (f *File) Explained(line int) bool { return f.explained.file[line] || f.explained.paths[line] }

// Explain says that what weaker rules find about a line follows from what this
// rule has found.
func (p *Pass) Explain(line int) {
	lines := &p.File.explained.file
	if p.Path != nil {
		lines = &p.File.explained.paths
	}
	if *lines == nil {
		*lines = make(map[int]bool)
	}
	(*lines)[line] = true
}

// Dangling is an entry whose parent was not there when it was written.
type Dangling struct {
	Place
	Parent string
	Later  int // line of an entry further down that has the id, 0 if there is none

	first bool // the first entry of the file
}

// First reports whether the entry is the first one of the file.
func (d *Dangling) First() bool { return d.first }

// Ring is a ring of parent links. Lines are those of its entries that link
// forward, lowest first.
type Ring struct {
	Place
	Lines []int
}

// Links is how an entry hangs in the tree.
type Links struct {
	Duplicate int // line of the last entry before that has the same id, 0 if there is none
	Returns   int // line of the tip that the file leaves to return to this entry's branch, 0 if it does not return
}

// Pass is what a rule sees of the place where the engine is.
type Pass struct {
	File *File
	Path *Path // of the second group of functions; nil otherwise

	// Links of the entry, in Checker.Entry.
	Links Links

	// Sealed is what the entry seals, in Checker.Entry; nil if it is no seal.
	Sealed *Sealed

	// Differs is how the line differs from the base, in Checker.Line; nil if
	// it does not.
	Differs *Difference

	// Active tells, at the end of a path, whether the file ends there.
	Active bool

	e     *engine
	rule  int // whose function runs
	line  *transcript.Line
	entry *transcript.Entry
	index uint32
	turn  *Turn
}

// Turn is the assistant message that is being looked at, in Checker.Message.
// It is nil for messages of other roles.
func (p *Pass) Turn() *Turn { return p.turn }

// Notes are what the bytes of the line that is being looked at show although
// it could be read.
func (p *Pass) Notes() []transcript.Note {
	if p.line == nil {
		return nil
	}
	return p.line.Notes
}

// Entry is the entry that is being looked at.
func (p *Pass) Entry() *transcript.Entry { return p.entry }

// place is that of the entry or line that is being looked at.
func (p *Pass) place() Place {
	at := Place{Column: 1, index: p.index}
	switch {
	case p.entry != nil:
		at.Line, at.Entry = p.entry.Line, strings.Clone(p.entry.ID) // places outlive lines
		if at.Entry == "" {
			at.anchor = anchor(p.entry.Raw)
		}
	case p.line != nil:
		at.Line, at.anchor = p.line.No, anchor(p.line.Raw)
	}
	return at
}

// anchor stands for the id of a line that has none.
func anchor(raw []byte) string {
	sum := sha256.Sum256(trimLineEnd(raw))
	return hex.EncodeToString(sum[:8])
}

// Place is that of the entry that is being looked at, of the line in
// [Checker.Line].
func (p *Pass) Place() Place { return p.place() }

// Finding makes a finding about the entry that is being looked at, about the
// line in [Checker.Line].
func (p *Pass) Finding(format string, args ...any) Finding {
	at := p.place()
	return at.Finding(format, args...)
}

// Report reports a finding. Rule, file and fingerprint are filled in, and the
// rule's severity where the finding has none.
func (p *Pass) Report(f Finding) { p.e.report(p.rule, f, nil) }

// ReportIf reports a finding that depends on what the rest of the file holds:
// keep decides at the end, and may change the message and the severity.
func (p *Pass) ReportIf(f Finding, keep func(file *File, f *Finding) bool) {
	p.e.report(p.rule, f, keep)
}

// Suspect reports a finding about a call whose severity depends on whether the
// tool did its work: ran applies if it did, otherwise applies as long as it is
// not known. An empty severity is no finding. keep may be nil; see ReportIf.
func (p *Pass) Suspect(c *Call, ran, otherwise Severity, f Finding, keep func(*File, *Finding) bool) {
	if otherwise != "" {
		f.Severity = otherwise
		p.e.report(p.rule, f, keep)
	}
	if ran != "" {
		f.Severity = ran
		c.suspicions = append(c.suspicions, suspicion{p.rule, f.owned(), keep})
	}
}

// Memory is what the rule remembers along the path.
func (p *Pass) Memory() Memory { return p.Path.memory[p.e.slots[p.rule]] }

// Straight reports whether nothing but entries of this path stands in the file
// between the entry that is looked at and the one that was looked at when
// [Pass.Position] was taken.
func (p *Pass) Straight(from Position) bool {
	return p.index-from.index == uint32(len(p.Path.entries)-from.depth)
}

// Position is a place on a path for Straight.
func (p *Pass) Position() Position { return Position{p.index, len(p.Path.entries)} }

// Position is a place on a path.
type Position struct {
	index uint32
	depth int
}

// Note says in the summary what cannot be known about the file.
func (p *Pass) Note(format string, args ...any) { p.e.note(fmt.Sprintf(format, args...)) }

// Exists reports whether the file has an entry with the id, so far.
func (p *Pass) Exists(id string) bool { return p.e.links.Find(id) != none }

// Request recomputes the digest that a turnlog.request entry that is looked at
// should state, see [replay.Sent.Digest]. It reads the entries of the path again
// where no request came before, and where a compaction or an edit chose them
// anew.
func (p *Pass) Request(r *transcript.Request) (digest string, messages int, ok bool) {
	path := p.Path
	if !path.asked || path.sent.Stale(&path.facts) {
		path.asked = true
		err := path.sent.Again(&path.facts, func(at int) (*transcript.Entry, error) { return p.e.entry(path.entries[at]) })
		if err != nil {
			panic(rereadError{err})
		}
	}
	return path.sent.Digest(&path.facts, r)
}

// nearby is how many entries MessageAfter and MessageBefore read at most.
const nearby = 16

// MessageAfter hashes the message that follows a place on the path, like
// HashMessage, and gives its place. System messages are passed over. It reads
// the file again. ok is false if there is none before the entry that is looked
// at, or none nearby.
func (p *Pass) MessageAfter(at Place) (hash uint64, next Place, ok bool) {
	depth, ok := p.e.links.OnPath(at.index)
	if !ok {
		return 0, Place{}, false
	}
	after := p.Path.entries[depth+1:]
	return p.firstMessage(slices.Values(after[:min(nearby, len(after))]))
}

// MessageBefore is MessageAfter in the other direction.
func (p *Pass) MessageBefore(at Place) (hash uint64, before Place, ok bool) {
	end := len(p.Path.entries)
	if at.index != p.index {
		if end, ok = p.e.links.OnPath(at.index); !ok {
			return 0, Place{}, false
		}
	}
	return p.firstMessage(func(yield func(uint32) bool) {
		for _, i := range slices.Backward(p.Path.entries[max(0, end-nearby):end]) {
			if !yield(i) {
				return
			}
		}
	})
}

func (p *Pass) firstMessage(entries iter.Seq[uint32]) (hash uint64, at Place, ok bool) {
	for i := range entries {
		if m := p.e.messageAt(i); m != nil && m.Role != transcript.System {
			return p.HashMessage(m), Place{Line: p.e.links.Line(i), index: i}, true
		}
	}
	return 0, Place{}, false
}

// Remember notes that this entry uses a key of the rule's own. It costs 28
// bytes for as long as the file is checked.
func (p *Pass) Remember(key uint64) { p.e.uses.add(p.e.useKey(useRule+uint64(p.rule), key), p.index) }

// Recall returns the line of the last entry of the path before this one that
// used a key of the rule's own.
func (p *Pass) Recall(key uint64) (line int, ok bool) {
	return p.lineOf(p.e.uses.onPath(p.e.useKey(useRule+uint64(p.rule), key)))
}

func (p *Pass) lineOf(i uint32) (line int, ok bool) {
	if i == none {
		return 0, false
	}
	return p.e.links.Line(i), true
}

// Hash hashes a text to a key for Remember and for a rule's own tables. It is
// another one in every process.
func (p *Pass) Hash(text string) uint64 { return p.e.links.Fingerprint(text) }

// CallKey is the key of a call id for CallLine.
func (p *Pass) CallKey(id string) uint64 { return p.e.callKey(useCall, id) }

// CallLine returns the line of the first call of the file with a key, on
// whatever path. It is complete at the end of the file.
func (p *Pass) CallLine(key uint64) (line int, ok bool) { return p.lineOf(p.e.uses.first(key)) }
