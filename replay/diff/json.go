package diff

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/diff/jsondiff"
)

// JSONVersion is the version of what [Result.WriteJSON] writes. Members are
// added without a new version; none changes its meaning.
const JSONVersion = 1

// The records below, and what they take over from the result, are the
// documented form, see the package comment.
type (
	resultRecord struct {
		Version    int                 `json:"version"`
		Equal      bool                `json:"equal"`
		Mode       Mode                `json:"mode"`
		Sequence   calls.Sequence      `json:"sequence,omitempty"`
		Arguments  calls.ArgumentMatch `json:"arguments,omitempty"`
		Ignored    []string            `json:"ignored"`
		A          *History            `json:"a"`
		B          *History            `json:"b"`
		Common     *Common             `json:"common,omitempty"`
		Divergence *Divergence         `json:"divergence,omitempty"`
		Causes     []Category          `json:"causes"`
		Stat       []stat              `json:"stat"`
		Changes    []Change            `json:"changes"`
		Edits      []editRecord        `json:"edits"`
		Mismatches []mismatchRecord    `json:"mismatches"`
	}
	editRecord struct {
		Op Op     `json:"op"`
		A  *Place `json:"a,omitempty"`
		B  *Place `json:"b,omitempty"`
	}
	mismatchRecord struct {
		A      *callRecord      `json:"a,omitempty"`
		B      *callRecord      `json:"b,omitempty"`
		Fields []jsondiff.Field `json:"fields"`
	}
	callRecord struct {
		Index int `json:"index"` // from 0
		*calls.Call
	}
)

// WriteJSON writes a result as one JSON object on one line.
func (r *Result) WriteJSON(w io.Writer) error {
	rec := resultRecord{
		Version: JSONVersion, Equal: r.Equal(), Mode: r.Mode, Sequence: r.Sequence, Arguments: r.Arguments, Ignored: list(r.Ignored),
		A: r.A, B: r.B, Divergence: r.Divergence, Causes: list(r.Causes), Changes: list(r.Changes),
		Stat: list(r.stats()), Edits: []editRecord{}, Mismatches: []mismatchRecord{},
	}
	if r.Mode != OnlyCalls {
		rec.Common = &r.Common
	}
	for _, e := range r.Edits {
		rec.Edits = append(rec.Edits, editRecord{e.Op, r.A.placeOf(e.A), r.B.placeOf(e.B)})
	}
	for _, m := range r.Mismatches {
		rec.Mismatches = append(rec.Mismatches, mismatchRecord{r.A.callRecord(m.Want), r.B.callRecord(m.Got), list(m.Fields)})
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(rec); err != nil {
		return fmt.Errorf("write difference: %w", err)
	}
	return nil
}

// list is never null in JSON.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// placeOf is where a step stands, nil for none.
func (h *History) placeOf(i int) *Place {
	if i < 0 {
		return nil
	}
	p := place(&h.steps[i])
	return &p
}

func (h *History) callRecord(i int) *callRecord {
	if i < 0 {
		return nil
	}
	return &callRecord{i, &h.calls[i]}
}

// stat counts the changes of a category.
type stat struct {
	Category Category `json:"category"`
	Added    int      `json:"added"`
	Removed  int      `json:"removed"`
	Changed  int      `json:"changed"`
	Moved    int      `json:"moved"`
}

func newStat(list []Change) stat {
	s := stat{Category: list[0].Category}
	for i := range list {
		switch list[i].Kind {
		case Added:
			s.Added++
		case Removed:
			s.Removed++
		case Changed:
			s.Changed++
		case Moved:
			s.Moved++
		}
	}
	return s
}

func (r *Result) stats() []stat {
	var stats []stat
	for _, c := range Categories() {
		if list := r.of(c); len(list) > 0 {
			stats = append(stats, newStat(list))
		}
	}
	return stats
}
