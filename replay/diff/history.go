package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Source is a transcript to compare.
type Source struct {
	Name string // in reports

	// Lines may be lent (transcript.Options.Lend) where no entries are kept:
	// with At, and without a cut.
	Lines iter.Seq2[transcript.Line, error]

	// At reads the same bytes again. With it only digests are kept and what
	// differs is read twice, so that files of any size can be compared; it must
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
	calls []Call
	end   *situation
	ran   bool // whether runs are recorded
	ended any  // status of the last run, nil if it did not end
	final int  // step of the last answer that arrived, -1 for none

	at      io.ReaderAt
	entries []transcript.Entry // by step.entry, without at
	ignore  ignored
}

// Read reads a transcript as o says: its path to o.Leaf, or with a cut what
// was in effect there. Errors are I/O errors, a *replay.CutError, or a
// *replay.NewerFormatError.
func Read(ctx context.Context, src Source, o Options) (*History, error) {
	ignore, err := newIgnored(o.Ignore)
	if err != nil {
		return nil, err
	}
	h := &History{Name: src.Name, at: src.At, ignore: ignore, final: -1}
	in := intake{ctx: ctx, reader: reader{ignore: ignore}, keep: src.At == nil || !o.path()}
	tree, err := replay.Read(in.lines(src.Lines))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	h.Damage, h.Knowledge = list(in.damage), tree.Knowledge()
	if in.keep {
		h.at = nil
	}
	if o.path() {
		err = h.path(tree, in.records, o.Leaf)
	} else {
		err = h.cut(tree, &in.reader, o)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	return h, nil
}

// intake takes lines on their way into a tree: it digests what they say and
// lets only that through which the fold needs.
type intake struct {
	reader
	ctx     context.Context // of the one Read
	keep    bool
	records []record // as in the tree
	damage  []Damage
}

func (in *intake) lines(lines iter.Seq2[transcript.Line, error]) iter.Seq2[transcript.Line, error] {
	return func(yield func(transcript.Line, error) bool) {
		for l, err := range lines {
			if err == nil && l.No%1024 == 0 {
				err = context.Cause(in.ctx)
			}
			if err == nil {
				in.line(&l)
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

func (in *intake) line(l *transcript.Line) {
	in.damage = append(in.damage, damageOf(l)...)
	for i := range l.Records {
		e := &l.Records[i]
		if e.Type == transcript.TypeSession {
			continue
		}
		rec := in.record(e)
		rec.entry = len(in.records)
		rec.spot = spot{line: l.No, offset: l.Offset, size: int64(len(l.Raw)), record: i}
		if !in.keep {
			slim(e, &rec)
		}
		in.records = append(in.records, rec)
	}
}

// slim drops from an entry what the fold of tools, prompt and model does not
// need. Nothing that stays may share memory with the line, which may be lent.
func slim(e *transcript.Entry, rec *record) {
	for i, id := range rec.callIDs {
		rec.callIDs[i] = strings.Clone(id)
	}
	rec.answers, rec.about, rec.kind = strings.Clone(rec.answers), strings.Clone(rec.about), strings.Clone(rec.kind)
	e.ID, e.ParentID, e.Timestamp = strings.Clone(e.ID), strings.Clone(e.ParentID), ""
	switch m := e.Message; {
	case m == nil && !folds(e):
		*e = transcript.Entry{Type: strings.Clone(e.Type), ID: e.ID, ParentID: e.ParentID, Line: e.Line}
	case m == nil || m.Role == transcript.System:
		return // few, and the fold needs them whole
	case m.Role == transcript.Assistant:
		s := &transcript.Message{
			Role: m.Role, API: strings.Clone(m.API), Provider: strings.Clone(m.Provider), Model: strings.Clone(m.Model),
			ResponseModel: strings.Clone(m.ResponseModel), ThinkingLevel: strings.Clone(m.ThinkingLevel),
			StopReason: strings.Clone(m.StopReason),
		}
		if m.Usage != nil {
			u := *m.Usage
			u.Extra, u.Cost.Extra = nil, nil
			s.Usage = &u
		}
		for _, c := range m.Calls() {
			s.Content = append(s.Content, transcript.Block{Type: transcript.BlockToolCall, Call: &transcript.Call{
				ID: strings.Clone(c.ID), Name: strings.Clone(c.Name), Arguments: append([]byte(nil), c.Arguments...),
			}})
		}
		e.Message = s
	default:
		e.Message = nil
	}
	e.Raw = nil
}

// folds reports whether an entry that is no message changes what requests go
// out with, or says how the run ended.
func folds(e *transcript.Entry) bool {
	if e.Custom != nil {
		switch e.Custom.CustomType {
		case transcript.CustomRun, transcript.CustomRequest, transcript.CustomEnd:
			return true
		}
		return false
	}
	return e.Model != nil || e.Type == transcript.TypeThinking || e.Compaction != nil || e.Edit != nil
}

// path makes the steps of the path to a leaf, by default the last entry.
func (h *History) path(tree *replay.Tree, records []record, leaf string) error {
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
	for _, i := range path {
		w.entry(&tree.Entries[i], records[i])
	}
	w.finish()
	if h.at == nil {
		h.entries = tree.Entries
	}
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
func (h *History) cut(tree *replay.Tree, r *reader, o Options) error {
	state, at, err := tree.At(o.At, o.Leaf)
	if err != nil {
		return err
	}
	h.At = &at
	turns := turnsTo(tree, at)
	w := newWalk(h, nil)
	for i, item := range state.Context() {
		e := transcript.Entry{Type: transcript.TypeMessage, ID: item.Entry, Line: item.Line, Message: &item.Message}
		rec := r.record(&e)
		rec.entry, rec.spot.line = i, item.Line
		w.entry(&e, rec)
		h.steps[i].turn = turns[item.Entry]
		h.entries = append(h.entries, e)
	}
	w.finish()
	h.Turns = at.Turn
	end := conditions{state: state}
	h.end, h.Usage = end.answered(nil), tokensOf(state.Usage())
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

// load reads the entry of a step again, and checks that it is still the same.
func (h *History) load(s *step) (*transcript.Entry, error) {
	if h.at == nil {
		return &h.entries[s.entry], nil
	}
	line := make([]byte, s.spot.size)
	if _, err := h.at.ReadAt(line, s.spot.offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s again: %w", h.Name, err)
	}
	e, ok := recordOf(line, s.spot.record)
	again := reader{ignore: h.ignore}
	if !ok || again.record(&e).whole != s.whole {
		return nil, fmt.Errorf("read %s again: line %d has changed meanwhile", h.Name, s.spot.line)
	}
	e.Line = s.spot.line
	return &e, nil
}

// recordOf parses one record of a line. Damaged lines go through the reader of
// lines, which takes a buffer of 64 KiB each time.
func recordOf(line []byte, n int) (transcript.Entry, bool) {
	if e, err := transcript.ParseEntry(bytes.TrimRight(line, "\r\n")); err == nil && n == 0 {
		return e, true
	}
	for l, err := range transcript.Lines(bytes.NewReader(line), transcript.Options{MaxLine: len(line) + 1}) {
		if err == nil && n < len(l.Records) {
			return l.Records[n], true
		}
	}
	return transcript.Entry{}, false
}
