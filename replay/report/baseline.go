package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/turnlog/turnlog/replay/verify"
)

// Baseline is a set of findings that are known and accepted. A finding is
// found again by its file and its fingerprint, so it stays accepted when lines
// move; as many findings are accepted as were written.
type Baseline struct {
	accepted map[accepted]int
	records  []baselineRecord
}

type accepted struct{ file, fingerprint string }

// baselineVersion is that of the file format.
const baselineVersion = 1

type baselineFile struct {
	Version  int              `json:"version"`
	Findings []baselineRecord `json:"findings"`
}

// baselineRecord has rule and message for those who review the file.
type baselineRecord struct {
	File        string `json:"file"`
	Rule        string `json:"rule"`
	Fingerprint string `json:"fingerprint"`
	Message     string `json:"message"`
}

// ReadBaseline reads what [Baseline.Write] wrote.
func ReadBaseline(r io.Reader) (*Baseline, error) {
	var f baselineFile
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a baseline: %w", err)
	}
	if f.Version != baselineVersion {
		return nil, fmt.Errorf("baseline version %d: this turnlog reads version %d", f.Version, baselineVersion)
	}
	b := &Baseline{accepted: map[accepted]int{}}
	for _, r := range f.Findings {
		if r.File == "" || r.Fingerprint == "" {
			return nil, fmt.Errorf("not a baseline: a finding without file or fingerprint")
		}
		b.accepted[accepted{r.File, r.Fingerprint}]++
	}
	return b, nil
}

// Filter returns the findings that are not accepted, and how many were. file
// is the name under which the baseline knows the file.
func (b *Baseline) Filter(file string, fs []verify.Finding) (fresh []verify.Finding, known int) {
	for i := range fs {
		key := accepted{file, fs[i].Fingerprint}
		if b.accepted[key] > 0 {
			b.accepted[key]--
			known++
			continue
		}
		fresh = append(fresh, fs[i])
	}
	return fresh, known
}

// Gone counts the accepted findings that Filter has not met.
func (b *Baseline) Gone() int {
	n := 0
	for _, left := range b.accepted {
		n += left
	}
	return n
}

// Add accepts findings of a file; [Baseline.Write] writes them.
func (b *Baseline) Add(file string, fs []verify.Finding) {
	for i := range fs {
		b.records = append(b.records, baselineRecord{file, fs[i].Rule, fs[i].Fingerprint, fs[i].Message})
	}
}

// Write writes the findings that were added, sorted, so that a new version of
// the file differs where findings do.
func (b *Baseline) Write(w io.Writer) error {
	slices.SortFunc(b.records, func(x, y baselineRecord) int {
		return cmp.Or(
			cmp.Compare(x.File, y.File), cmp.Compare(x.Rule, y.Rule),
			cmp.Compare(x.Fingerprint, y.Fingerprint), cmp.Compare(x.Message, y.Message),
		)
	})
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(baselineFile{baselineVersion, slices.Concat([]baselineRecord{}, b.records)})
}
