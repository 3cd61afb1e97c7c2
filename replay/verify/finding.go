package verify

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnlog/turnlog/replay"
)

// Severity of a finding.
type Severity string

// The severities, worst first. An error is a contradiction, or something for
// which a provider refuses the next request; a warning may be legal; a note is
// worth showing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Rank orders severities: 3 for Error, 2 for Warning, 1 for Note, 0 for
// anything else.
func (s Severity) Rank() int {
	switch s {
	case Error:
		return 3
	case Warning:
		return 2
	case Note:
		return 1
	}
	return 0
}

// ParseSeverity reads the name of a severity.
func ParseSeverity(name string) (Severity, error) {
	if s := Severity(name); s.Rank() > 0 {
		return s, nil
	}
	return "", fmt.Errorf("severity %q: want error, warning or note", name)
}

// Finding is something that a rule says about a line. Findings are values,
// never Go errors.
type Finding struct {
	Rule     string // id of the rule, kebab-case
	Severity Severity
	File     string
	Line     int    // physical, from 1; 0 for the file as a whole
	Column   int    // in bytes from 1
	Entry    string // entry id; "" if the line has none
	Message  string
	Related  []Related // other lines that belong to it

	// Subject is what the finding is about within its line: a call id, a tool
	// name, a key. Findings of one rule, line and subject are one finding.
	Subject string

	// Snippet is the part of the line that offends, for people. It never
	// shows a secret.
	Snippet string

	// Fingerprint is the same for the same fact in a later version of the
	// file: it covers the rule, the entry and the subject, not line numbers.
	Fingerprint string

	anchor string // stands for the entry id in fingerprints of lines without one
}

// Related is another place of a finding.
type Related struct {
	Line    int
	Message string
}

// Compare orders findings as they are shown: by file, line, column, rule and
// subject.
func Compare(a, b Finding) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Subject, b.Subject),
		cmp.Compare(a.Message, b.Message),
	)
}

// Worst is the worst severity among findings, "" if there are none.
func Worst(findings []Finding) Severity {
	if len(findings) == 0 {
		return ""
	}
	return slices.MaxFunc(findings, func(a, b Finding) int {
		return cmp.Compare(a.Severity.Rank(), b.Severity.Rank())
	}).Severity
}

// Seal says whether the file's content is what its last run left.
type Seal string

// The seals. None is for formats without seals.
const (
	SealOK        Seal = "ok"
	SealBroken    Seal = "broken"
	SealMissing   Seal = "unsealed"
	SealInherited Seal = "inherited" // a fork: sealed under another session, not checkable here
	SealNone      Seal = "none"
)

// Knowledge says how well a file tells which tools the model had.
type Knowledge = replay.Knowledge

// The five honest answers, best first. Nothing is called undeclared under
// Partial and Unknown.
const (
	Exact      = replay.Exact
	PerRequest = replay.PerRequest
	Names      = replay.Names
	Partial    = replay.Partial
	Unknown    = replay.Unknown
)

// Summary is what is said once about a file.
type Summary struct {
	File      string
	Format    string // turnlog, pi, events, or unknown
	Knowledge Knowledge
	Entries   int
	Branches  int // leaves of the entry tree
	Seal      Seal
	Digest    string   // of the whole file, "v1:sha256:<hex>"; "" where nothing asked for it
	Notes     []string // what cannot be known, one sentence each
}
