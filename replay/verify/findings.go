package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// conditional is a finding that may depend on the rest of the file.
type conditional struct {
	finding Finding
	keep    func(*File, *Finding) bool // nil: it stands
}

// findings are what the rules report: of lines and entries while the file is
// read, and of paths, which are found anew if the tree is walked.
type findings struct {
	name  string
	file  *found
	paths *found
}

// found merges findings: the same rule, line and subject is one finding, with
// the worst severity.
type found struct {
	list []conditional
	at   map[findingKey]int
	of   map[string]int // by rule
}

type findingKey struct {
	rule, subject string
	line          int
}

// maxFindings is how many findings of a rule are kept of one file. A file that
// is wrong on every line would need more memory for what is said about it than
// for itself; how many more there are is said.
const maxFindings = 20_000

func newFindings(file string) findings {
	return findings{name: file, file: newFound(), paths: newFound()}
}

func newFound() *found { return &found{at: make(map[findingKey]int), of: make(map[string]int)} }

func (f *findings) none() bool { return len(f.file.list)+len(f.paths.list) == 0 }

func (f *found) add(c conditional) {
	key := findingKey{c.finding.Rule, c.finding.Subject, c.finding.Line}
	i, ok := f.at[key]
	if !ok {
		if f.of[key.rule]++; f.of[key.rule] <= maxFindings {
			f.at[key] = len(f.list)
			f.list = append(f.list, c)
		}
		return
	}
	old := &f.list[i]
	if c.finding.Severity.Rank() > old.finding.Severity.Rank() {
		c, *old = *old, c
	}
	if old.keep == nil || c.keep == nil {
		old.keep = nil
		return
	}
	first, second := old.keep, c.keep
	old.keep = func(file *File, f *Finding) bool { return first(file, f) || second(file, f) }
}

// capped says how many findings are not listed.
func (f *findings) capped() []string {
	var notes []string
	for _, found := range []*found{f.file, f.paths} {
		for _, rule := range sortedKeys(found.of) {
			if n := found.of[rule] - maxFindings; n > 0 {
				notes = append(notes, rule+": up to "+itoa(n)+" more findings are not listed")
			}
		}
	}
	return notes
}

// owned makes a finding independent of the line it was made from.
func (f Finding) owned() Finding {
	f.Entry, f.Subject, f.Snippet = strings.Clone(f.Entry), strings.Clone(f.Subject), strings.Clone(f.Snippet)
	return f
}

// sorted decides what stands at the end of the file.
func (f *findings) sorted(file *File, snippet func(*Finding)) []Finding {
	for _, c := range f.paths.list {
		f.file.add(c)
	}
	out := make([]Finding, 0, len(f.file.list))
	for i := range f.file.list {
		c := &f.file.list[i]
		if c.keep != nil && !c.keep(file, &c.finding) {
			continue
		}
		c.finding.File = f.name
		out = append(out, c.finding)
	}
	slices.SortFunc(out, Compare)
	seen := make(map[string]int)
	for i := range out {
		if out[i].Snippet == "" {
			snippet(&out[i])
		}
		fp := out[i].fingerprint()
		if seen[fp]++; seen[fp] > 1 {
			fp += "-" + strconv.Itoa(seen[fp])
		}
		out[i].Fingerprint = fp
	}
	return out
}

// fingerprint covers the rule, the entry or what its line says, and the
// subject.
func (f *Finding) fingerprint() string {
	h := sha256.New()
	for _, part := range []string{f.Rule, f.Entry, f.anchor, f.Subject} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// report takes a finding of a rule.
func (e *engine) report(rule int, f Finding, keep func(*File, *Finding) bool) {
	r := &e.rules[rule]
	f.Rule = r.ID
	if f.Severity == "" {
		f.Severity = r.Severity
	}
	if s, ok := e.options.Severities[r.ID]; ok {
		f.Severity = s
		keep = pinned(keep, s)
	}
	c := conditional{finding: f.owned(), keep: keep}
	if e.pass.Path != nil {
		e.found.paths.add(c)
	} else {
		e.found.file.add(c)
	}
}

// pinned keeps a condition from changing a severity that the user has set.
func pinned(keep func(*File, *Finding) bool, s Severity) func(*File, *Finding) bool {
	if keep == nil {
		return nil
	}
	return func(file *File, f *Finding) bool {
		ok := keep(file, f)
		f.Severity = s
		return ok
	}
}
