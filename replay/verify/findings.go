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
	root    uint32                     // of the path it was found on; none for findings about lines
}

// findings merges what the rules report: the same rule, line and subject is
// one finding, with the worst severity.
type findings struct {
	file string
	list []conditional
	at   map[findingKey]int
	leaf *[]conditional // takes the findings of a leaf; nil otherwise
}

type findingKey struct {
	rule, subject string
	line          int
}

func newFindings(file string) *findings {
	return &findings{file: file, at: make(map[findingKey]int)}
}

func (f *findings) add(c conditional) {
	key := findingKey{c.finding.Rule, c.finding.Subject, c.finding.Line}
	i, ok := f.at[key]
	if !ok {
		f.at[key] = len(f.list)
		f.list = append(f.list, c)
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

// owned makes a finding independent of the line it was made from.
func (f Finding) owned() Finding {
	f.Entry, f.Subject, f.Snippet = strings.Clone(f.Entry), strings.Clone(f.Subject), strings.Clone(f.Snippet)
	return f
}

// sorted decides what stands at the end of the file.
func (f *findings) sorted(file *File, snippet func(*Finding)) []Finding {
	out := make([]Finding, 0, len(f.list))
	for i := range f.list {
		c := &f.list[i]
		if c.keep != nil && !c.keep(file, &c.finding) {
			continue
		}
		c.finding.File = f.file
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

// drop takes out the findings of paths that start at a root.
func (f *findings) drop(root uint32) {
	for i := range f.list {
		if c := &f.list[i]; c.root == root {
			c.keep = func(*File, *Finding) bool { return false }
		}
	}
}

// report takes a finding of a rule.
func (e *engine) report(rule int, f Finding, keep func(*File, *Finding) bool) {
	if e.pass.muted {
		return
	}
	r := &e.rules[rule]
	f.Rule = r.ID
	if f.Severity == "" {
		f.Severity = r.Severity
	}
	if s, ok := e.options.Severities[r.ID]; ok {
		f.Severity = s
		keep = pinned(keep, s)
	}
	c := conditional{finding: f.owned(), keep: keep, root: none}
	if e.pass.Path != nil {
		c.root = e.pass.Path.root
	}
	if e.found.leaf != nil {
		*e.found.leaf = append(*e.found.leaf, c)
		return
	}
	e.found.add(c)
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
