package diff

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay"
)

// JSONVersion is the version of what [Result.WriteJSON] writes. Members are
// added without a new version; none changes its meaning.
const JSONVersion = 1

// The records below are the documented form, see the package comment.
type (
	resultRecord struct {
		Version    int               `json:"version"`
		Equal      bool              `json:"equal"`
		Mode       Mode              `json:"mode"`
		Sequence   Sequence          `json:"sequence,omitempty"`
		Arguments  ArgumentMatch     `json:"arguments,omitempty"`
		Ignored    []string          `json:"ignored"`
		A          sideRecord        `json:"a"`
		B          sideRecord        `json:"b"`
		Common     *Common           `json:"common,omitempty"`
		Divergence *divergenceRecord `json:"divergence,omitempty"`
		Causes     []Category        `json:"causes"`
		Stat       []statRecord      `json:"stat"`
		Changes    []Change          `json:"changes"`
		Edits      []editRecord      `json:"edits"`
		Mismatches []mismatchRecord  `json:"mismatches"`
	}
	sideRecord struct {
		File     string           `json:"file"`
		Tools    replay.Knowledge `json:"knowledge"`
		At       *replay.Position `json:"at,omitempty"`
		Entries  int              `json:"entries"`
		Messages int              `json:"messages"`
		Turns    int              `json:"turns"`
		Calls    int              `json:"calls"`
		Usage    Tokens           `json:"usage"`
		Damage   []Damage         `json:"damage"`
	}
	divergenceRecord struct {
		A *momentRecord `json:"a"`
		B *momentRecord `json:"b"`
	}
	momentRecord struct {
		Place
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	statRecord struct {
		Category Category `json:"category"`
		Added    int      `json:"added"`
		Removed  int      `json:"removed"`
		Changed  int      `json:"changed"`
		Moved    int      `json:"moved"`
	}
	editRecord struct {
		Op Op     `json:"op"`
		A  *Place `json:"a,omitempty"`
		B  *Place `json:"b,omitempty"`
	}
	mismatchRecord struct {
		A      *callRecord   `json:"a,omitempty"`
		B      *callRecord   `json:"b,omitempty"`
		Fields []fieldRecord `json:"fields"`
	}
	callRecord struct {
		Index     int             `json:"index"` // from 0
		Line      int             `json:"line,omitempty"`
		Turn      int             `json:"turn,omitempty"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}
	fieldRecord struct {
		Path string `json:"path"`
		Kind Kind   `json:"kind"`
		A    any    `json:"valueA,omitempty"`
		B    any    `json:"valueB,omitempty"`
	}
)

// WriteJSON writes a result as one JSON object on one line.
func (r *Result) WriteJSON(w io.Writer) error {
	rec := resultRecord{
		Version: JSONVersion, Equal: r.Equal(), Mode: r.Mode, Sequence: r.Sequence, Arguments: r.Arguments, Ignored: list(r.Ignored),
		A: sideOf(r.A), B: sideOf(r.B), Causes: list(r.Causes), Changes: list(r.Changes),
		Stat: r.stats(), Edits: r.editRecords(), Mismatches: r.mismatchRecords(),
	}
	if r.Mode != OnlyCalls {
		rec.Common = &r.Common
	}
	if d := r.Divergence; d != nil {
		rec.Divergence = &divergenceRecord{momentOf(d.A), momentOf(d.B)}
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

func sideOf(h *History) sideRecord {
	return sideRecord{
		File: h.Name, Tools: h.Knowledge, At: h.At, Entries: h.Entries, Messages: h.Messages, Turns: h.Turns,
		Calls: len(h.calls), Usage: h.Usage, Damage: list(h.Damage),
	}
}

func momentOf(m *Moment) *momentRecord {
	if m == nil {
		return nil
	}
	return &momentRecord{m.Place, m.Kind, m.Text}
}

func (r *Result) stats() []statRecord {
	records := []statRecord{}
	for _, c := range Categories() {
		s := statRecord{Category: c}
		for _, change := range r.of(c) {
			switch change.Kind {
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
		if s != (statRecord{Category: c}) {
			records = append(records, s)
		}
	}
	return records
}

func (r *Result) editRecords() []editRecord {
	records := make([]editRecord, len(r.Edits))
	for i, e := range r.Edits {
		records[i].Op = e.Op
		if e.A >= 0 {
			p := place(&r.A.steps[e.A])
			records[i].A = &p
		}
		if e.B >= 0 {
			p := place(&r.B.steps[e.B])
			records[i].B = &p
		}
	}
	return records
}

func (r *Result) mismatchRecords() []mismatchRecord {
	records := make([]mismatchRecord, len(r.Mismatches))
	for i, m := range r.Mismatches {
		records[i].Fields = []fieldRecord{}
		if m.Want >= 0 {
			records[i].A = callOf(m.Want, &r.A.calls[m.Want])
		}
		if m.Got >= 0 {
			records[i].B = callOf(m.Got, &r.B.calls[m.Got])
		}
		for _, f := range m.Fields {
			records[i].Fields = append(records[i].Fields, fieldRecord{f.Path, kindFor(f.InA, f.InB), f.A, f.B})
		}
	}
	return records
}

func callOf(i int, c *Call) *callRecord {
	return &callRecord{Index: i, Line: c.Line, Turn: c.Turn, Name: c.Name, Arguments: c.Arguments}
}
