package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/turnlog/turnlog/replay/verify"
)

// Baseline is findings that are known and accepted: those of one file, or what
// is found now, for another. A finding is found again by its file and its
// fingerprint, so it stays accepted when lines move; as many findings are
// accepted as were written. Names in a baseline are relative to where it is, so
// that it does not matter from where turnlog is called.
type Baseline struct {
	read, write string // names, "" if there is none
	accepted    map[accepted]int
	known       int // findings that were accepted
	fresh       []record
}

type accepted struct{ file, fingerprint string }

// record has rule and message for those who review the file.
type record struct {
	File        string `json:"file"`
	Rule        string `json:"rule"`
	Fingerprint string `json:"fingerprint"`
	Message     string `json:"message"`
}

// baselineVersion is that of the file format.
const baselineVersion = 1

type baselineFile struct {
	Version  int      `json:"version"`
	Findings []record `json:"findings"`
}

// OpenBaseline reads the baseline that is called read, and makes sure that one
// can be written to write; each may be "". An error is a mistake in the names.
func OpenBaseline(read, write string) (*Baseline, error) {
	b := &Baseline{read: read, write: write, accepted: map[accepted]int{}}
	if err := replaceable(write); err != nil {
		return nil, err
	}
	if read == "" {
		return b, nil
	}
	f, err := os.Open(read)
	if err != nil {
		return nil, mistake{fmt.Errorf("open baseline: %w", err), fmt.Sprintf("--write-baseline %s writes one", read)}
	}
	defer f.Close() // read only
	records, err := parseBaseline(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", read, err)
	}
	for _, r := range records {
		b.accepted[accepted{r.File, r.Fingerprint}]++
	}
	return b, nil
}

func parseBaseline(r io.Reader) ([]record, error) {
	var f baselineFile
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("not a baseline: %w", err)
	}
	if f.Version != baselineVersion {
		return nil, fmt.Errorf("baseline version %d: this turnlog reads version %d", f.Version, baselineVersion)
	}
	if slices.ContainsFunc(f.Findings, func(r record) bool { return r.File == "" || r.Fingerprint == "" }) {
		return nil, errors.New("not a baseline: a finding without file or fingerprint")
	}
	return f.Findings, nil
}

// replaceable refuses to write a baseline over anything else: a slip on the
// command line must not cost a transcript.
func replaceable(name string) error {
	info, err := os.Stat(name)
	switch {
	case name == "", errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("write baseline: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: no baseline is written there", name)
	case info.Size() == 0:
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	if _, err := parseBaseline(bytes.NewReader(data)); err != nil {
		return mistake{fmt.Errorf("%s is there and is %w", name, err), "name another file; verify replaces nothing but a baseline"}
	}
	return nil
}

// filter leaves out what is accepted.
func (b *Baseline) filter(file string, fs []verify.Finding) []verify.Finding {
	if b.write != "" {
		for i := range fs {
			b.fresh = append(b.fresh, record{relativeTo(b.write, file), fs[i].Rule, fs[i].Fingerprint, fs[i].Message})
		}
		return nil
	}
	name := relativeTo(b.read, file)
	return slices.DeleteFunc(fs, func(f verify.Finding) bool {
		key := accepted{name, f.Fingerprint}
		if b.accepted[key] == 0 {
			return false
		}
		b.accepted[key]--
		b.known++
		return true
	})
}

// relativeTo names file as seen from the folder of a baseline.
func relativeTo(baseline, file string) string {
	if file == "-" {
		return file
	}
	from, err1 := filepath.Abs(filepath.Dir(baseline))
	to, err2 := filepath.Abs(file)
	if rel, err := filepath.Rel(from, to); err == nil && err1 == nil && err2 == nil {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(file)
}

// finish says what was accepted, since nothing of it is in the report, and
// writes the new baseline, unless not all files were checked: half a baseline
// would look like a whole one.
func (b *Baseline) finish(note func(string), complete bool) error {
	switch {
	case b.write != "" && !complete:
		return fmt.Errorf("%s not written: not all files could be checked", b.write)
	case b.write != "":
		if err := b.replace(); err != nil {
			return fmt.Errorf("write baseline: %w", err)
		}
		note(fmt.Sprintf("%d findings written to %s", len(b.fresh), b.write))
	case b.read != "":
		note(fmt.Sprintf("%d findings accepted by %s", b.known, b.read))
		if gone := b.gone(); gone > 0 {
			note(fmt.Sprintf("%d more that it accepts were not found", gone))
		}
	}
	return nil
}

// gone counts the accepted findings that were not met.
func (b *Baseline) gone() (n int) {
	for _, left := range b.accepted {
		n += left
	}
	return n
}

// replace writes the new baseline beside its name and then takes the name, so
// that nobody ever reads half of it. It is sorted, so that a new version
// differs where findings do.
func (b *Baseline) replace() error {
	slices.SortFunc(b.fresh, func(x, y record) int {
		return cmp.Or(
			cmp.Compare(x.File, y.File), cmp.Compare(x.Rule, y.Rule),
			cmp.Compare(x.Fingerprint, y.Fingerprint), cmp.Compare(x.Message, y.Message),
		)
	})
	f, err := os.CreateTemp(filepath.Dir(b.write), filepath.Base(b.write)+".*")
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err = errors.Join(e.Encode(baselineFile{baselineVersion, slices.Concat([]record{}, b.fresh)}), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), b.write)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
