package diff

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Source is a transcript to compare.
type Source struct {
	Name string // in reports

	// Lines may be lent (transcript.Options.Lend) where no entries are kept:
	// with At, and without a cut.
	Lines iter.Seq2[transcript.Line, error]

	// At reads the same bytes again. With it only digests are kept and what is
	// needed is read twice, so that files of any size can be compared; it must
	// be nil if the records of Lines are not those of the file. Without it all
	// entries are kept.
	At io.ReaderAt
}

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
	ran   bool // whether runs are recorded
	ended any  // status of the last run, nil if it did not end
	final int  // step of the last answer that arrived, -1 for none

	at      io.ReaderAt
	entries []transcript.Entry // by step.entry; without at they are all there is
	last    []transcript.Entry // records of the line that was read again last
	lastAt  int                // its number
	reader
}

// Calls are the tool calls of the path in order, those of answers that did not
// arrive left out.
func (h *History) Calls() []calls.Call { return h.calls }

// Read reads a transcript as o says: its path to o.Leaf, or with a cut what
// was in effect there. Errors are I/O errors, a *replay.CutError, or a
// *replay.NewerFormatError.
func Read(ctx context.Context, src Source, o Options) (*History, error) {
	ignore, err := newIgnored(o.Ignore)
	if err != nil {
		return nil, err
	}
	h := &History{Name: src.Name, Damage: []Damage{}, reader: reader{ignored: ignore}, final: -1}
	if o.path() {
		h.at = src.At
	}
	var spots []spot // by place in the tree
	tree, err := replay.Read(h.lines(ctx, src.Lines, &spots))
	if err == nil {
		h.Knowledge, h.entries = tree.Knowledge(), tree.Entries
		if o.path() {
			err = h.path(ctx, tree, spots, o.Leaf)
		} else {
			err = h.cut(tree, o)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	return h, nil
}

// lines takes lines on their way into a tree: it notes where their records
// stand and lets only that through which the tree needs.
func (h *History) lines(ctx context.Context, lines iter.Seq2[transcript.Line, error], spots *[]spot) iter.Seq2[transcript.Line, error] {
	return func(yield func(transcript.Line, error) bool) {
		for l, err := range lines {
			if err == nil && l.No%1024 == 0 {
				err = context.Cause(ctx)
			}
			if err == nil {
				h.Damage = append(h.Damage, damageOf(&l)...)
			}
			for i := range l.Records {
				e := &l.Records[i]
				if e.Type == transcript.TypeSession {
					continue
				}
				*spots = append(*spots, spot{l.No, l.Offset, int64(len(l.Raw)), i, e.ID == ""})
				if h.at != nil && e.Compaction == nil && (e.Message == nil || e.Message.Role != transcript.System) {
					*e = transcript.Entry{ID: strings.Clone(e.ID), ParentID: strings.Clone(e.ParentID), Line: e.Line}
				}
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

// path makes the steps of the path to a leaf, by default the last entry.
func (h *History) path(ctx context.Context, tree *replay.Tree, spots []spot, leaf string) error {
	end := len(tree.Entries) - 1
	if leaf != "" {
		i, ok := tree.Find(leaf)
		if !ok {
			return &replay.CutError{Leaf: leaf, Msg: "no entry has this id"}
		}
		end = i
	}
	w := newWalk(h, tree.Header)
	path := tree.Path(end)
	h.steps = make([]step, 0, len(path))
	if len(path) > 0 {
		h.root(tree, path[0])
	}
	for n, i := range path {
		if n%1024 == 0 && context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		s := step{entry: i, spot: spots[i]}
		e, err := h.entry(&s)
		if err != nil {
			return err
		}
		w.entry(e, s)
	}
	w.finish()
	h.Usage = tokensOf(w.now.state.Usage())
	return nil
}

// root says if a path does not begin where a history does: then a part of it is
// missing.
func (h *History) root(tree *replay.Tree, i int) {
	e := &tree.Entries[i]
	switch {
	case tree.Parent(i) >= 0:
		h.Damage = append(h.Damage, Damage{Line: e.Line, Kind: "parent_ring", Message: "its parents lead back to it: the path begins here"})
	case e.ParentID != "":
		h.Damage = append(h.Damage, Damage{Line: e.Line, Kind: "no_parent", Message: "its parent is not in the file: the path begins here"})
	}
}

// cut makes a step of each message that is in effect at a cut.
func (h *History) cut(tree *replay.Tree, o Options) error {
	state, at, err := tree.At(o.At, o.Leaf)
	if err != nil {
		return err
	}
	h.At, h.entries = &at, nil
	turns := turnsTo(tree, at)
	w := newWalk(h, nil)
	for i, item := range state.Context() {
		h.entries = append(h.entries, transcript.Entry{Type: transcript.TypeMessage, ID: item.Entry, Line: item.Line, Message: &item.Message})
		w.entry(&h.entries[i], step{entry: i, spot: spot{line: item.Line}})
		h.steps[i].turn = turns[item.Entry]
	}
	w.now = conditions{state: state}
	w.finish()
	h.Turns, h.Usage = at.Turn, tokensOf(state.Usage())
	return nil
}

// turnsTo numbers the turns of the path to a position by their entries: a
// context that begins with a summary does not have all of them.
func turnsTo(tree *replay.Tree, at replay.Position) map[string]int {
	turns := make(map[string]int)
	end, ok := tree.Find(at.Entry)
	if !ok {
		return turns
	}
	s := new(replay.State)
	for _, i := range tree.Path(end) {
		s.Apply(&tree.Entries[i])
		turns[tree.Entries[i].ID] = s.Turn()
	}
	return turns
}
