// Package verify finds contradictions in transcripts.
package verify

// Severity of a finding.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

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

	// Snippet is the part of the line that offends, for people.
	Snippet string

	// Fingerprint is the same for the same fact in a later version of the
	// file: it covers the rule, the entry and the subject, not line numbers.
	Fingerprint string
}

// Related is another place of a finding.
type Related struct {
	Line    int
	Message string
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

// Knowledge says how well a format knows which tools the model had.
type Knowledge string

// The five honest answers, best first. Nothing is called undeclared under
// Partial and Unknown.
const (
	Exact      Knowledge = "exact"
	PerRequest Knowledge = "request"
	Names      Knowledge = "names"
	Partial    Knowledge = "partial"
	Unknown    Knowledge = "unknown"
)

// Summary is what is said once about a file.
type Summary struct {
	File      string
	Format    string // turnlog, pi, events, or unknown
	Knowledge Knowledge
	Entries   int
	Branches  int // leaves of the entry tree
	Seal      Seal
	Notes     []string // what cannot be known, one sentence each
}
