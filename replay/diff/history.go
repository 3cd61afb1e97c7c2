package diff

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// History is one side of a comparison: the path to a leaf, or what the model
// had in front of it at a cut.
type History struct {
	Name      string           `json:"file"`
	Knowledge replay.Knowledge `json:"knowledge"`    // what the file can tell about declarations
	At        *replay.Position `json:"at,omitempty"` // of the cut; nil for the whole path
	Entries   int              `json:"entries"`      // of the path, or of the context at a cut
	Messages  int              `json:"messages"`
	Turns     int              `json:"turns"`
	Made      int              `json:"calls"` // number of them
	Usage     Tokens           `json:"usage"` // of all answers of the path
	Damage    []Damage         `json:"damage"`

	steps []step
	calls []calls.Call
	end   *situation
	ran   bool   // whether runs are recorded
	ended string // status of the last run, "" if it did not end
	final int    // step of the last answer that arrived, -1 for none

	links *tree.Linker
	store store
	reader
}

// Calls are the tool calls of the path in order, those of answers that did not
// arrive left out.
func (h *History) Calls() []calls.Call { return h.calls }

// Read reads a transcript as o says: its path to o.Leaf, or with a cut what
// was in effect there. Errors are I/O errors, a *replay.CutError, or a
// *replay.NewerFormatError.
//
// at reads the bytes of the file again. With it a path is kept as digests only
// and what is needed is read twice, so that files of any size can be compared.
// Without it, at a cut, and where entries are made of the records of a file,
// they are kept.
func Read(ctx context.Context, f *foreign.File, at io.ReaderAt, o Options) (*History, error) {
	ignore, err := newIgnored(o.Ignore)
	if err != nil {
		return nil, err
	}
	h := &History{Name: f.Name, Damage: []Damage{}, links: tree.New(), reader: reader{ignored: ignore}, final: -1}
	if o.path() {
		if f.Options.Lend = at != nil && f.Format.Has(foreign.Links); f.Options.Lend {
			h.store.again = &foreign.Rereader{File: f, At: at, Links: h.links}
		}
		err = h.path(ctx, f, o.Leaf)
	} else {
		err = h.cut(ctx, f, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return h, nil
}

// parts notes the damage of lines on their way.
func (h *History) parts(ctx context.Context, f *foreign.File) iter.Seq2[tree.Part, error] {
	return func(yield func(tree.Part, error) bool) {
		for p, err := range f.Parts() {
			if l := p.Line; l != nil && err == nil {
				h.Damage = append(h.Damage, damageOf(l)...)
				if l.No%1024 == 0 {
					err = context.Cause(ctx)
				}
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// path makes the steps of the path to a leaf, by default the last entry.
func (h *History) path(ctx context.Context, f *foreign.File, leaf string) error {
	header, err := h.link(ctx, f)
	if err != nil {
		return err
	}
	end := uint32(h.links.Len()) - 1 // None for no entries
	if leaf != "" {
		if end = h.links.Find(leaf); end == tree.None {
			return &replay.CutError{Leaf: leaf, Msg: "no entry has this id"}
		}
	}
	path := h.links.Path(end)
	if len(path) > 0 {
		h.root(path[0])
	}
	h.steps = make([]step, 0, len(path))
	w := newWalk(h, header)
	for n, i := range path {
		if n%1024 == 0 && context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		s := step{entry: i, line: h.links.Line(i)}
		e, err := h.entry(&s)
		if err != nil {
			return err
		}
		w.entry(e, s)
	}
	w.finish()
	h.Usage = tokensOf(w.now.facts.Usage())
	if h.store.again != nil {
		h.store.again.Forget()
	}
	return nil
}

// link links the entries of a file and stores them.
func (h *History) link(ctx context.Context, f *foreign.File) (header *transcript.Entry, err error) {
	declares := false
	for p, err := range h.parts(ctx, f) {
		if err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		for i := range p.Records {
			r := &p.Records[i]
			if r.Entry.Type != transcript.TypeSession {
				h.store.add(h.links.Add(r).Index, r)
				declares = declares || replay.Declares(r.Entry)
				continue
			}
			if err := replay.CheckFormat(r.Entry); err != nil {
				return nil, err
			}
			if header == nil {
				header = r.Entry
			}
		}
	}
	h.links.Settle()
	h.Knowledge = f.Knowledge(declares)
	return header, nil
}

// root says if a path does not begin where a history does: then a part of it is
// missing.
func (h *History) root(i uint32) {
	d := Damage{Line: h.links.Line(i)}
	switch {
	case h.links.Parent(i) != tree.None:
		d.Kind, d.Message = "parent_ring", "its parents lead back to it: the path begins here"
	case h.links.Lost(i):
		d.Kind, d.Message = "no_parent", "its parent is not in the file: the path begins here"
	default:
		return
	}
	h.Damage = append(h.Damage, d)
}

// cut makes a step of each message that is in effect at a cut.
func (h *History) cut(ctx context.Context, f *foreign.File, o Options) error {
	t, err := replay.ReadParts(h.parts(ctx, f))
	if err != nil {
		return err
	}
	h.Knowledge = f.Knowledge(t.Knowledge() != replay.Unknown)
	state, at, err := t.At(o.At, o.Leaf)
	if err != nil {
		return err
	}
	h.At = &at
	turns := turnsTo(t, at)
	w := newWalk(h, nil)
	for i, item := range state.Context() {
		e := transcript.Entry{Type: transcript.TypeMessage, ID: item.Entry, Line: item.Line, Message: &item.Message}
		h.store.kept = append(h.store.kept, e)
		w.entry(&e, step{entry: uint32(i), line: item.Line})
		h.steps[i].turn = turns[item.Entry]
	}
	w.now = conditions{facts: state.Facts}
	w.finish()
	h.Turns, h.Usage = at.Turn, tokensOf(state.Usage())
	return nil
}

// turnsTo numbers the turns of the path to a position by their entries: a
// context that begins with a summary does not have all of them.
func turnsTo(t *replay.Tree, at replay.Position) map[string]int {
	turns := make(map[string]int)
	if end, ok := t.Find(at.Entry); ok {
		var f replay.Facts
		for _, i := range t.Path(end) {
			f.Apply(&t.Entries[i])
			turns[t.Entries[i].ID] = f.Turn()
		}
	}
	return turns
}
