// Package verify finds contradictions in transcripts of LLM agents: tools
// called after they were removed, calls without results, results without
// calls, lines that a crash tore, histories that somebody rewrote.
//
// # Use
//
// [Run] reads one file once and returns what the rules found:
//
//	f, err := os.Open("session.jsonl")
//	...
//	result, err := verify.Run(ctx, verify.Source{Name: f.Name(), Reader: f, At: f}, rule.All(), verify.Options{})
//	if err != nil {
//		return err // the file could not be checked to its end
//	}
//	for _, finding := range result.Findings {
//		fmt.Printf("%s:%d: %s [%s]\n", finding.File, finding.Line, finding.Message, finding.Rule)
//	}
//
// Package verify/rule has the rules. A caller may choose among them ([Select]),
// change what they count as, or add its own: a [Rule] is a value.
//
// # How it works
//
// The file is a tree of entries, which package replay/tree links, and what
// holds at an entry is what package replay folds: verify has no fold of its own.
// Rules about bytes see every physical line. Rules about sequences see each path
// from the root to a leaf. While entries follow one another the engine follows
// them as it reads; a file that branches, or whose parents come later, is walked
// once more when all of it is known, depth first, so that what paths share is
// folded once. Findings are merged by rule, line and subject.
//
// Memory is the open state, a row of 32 bytes for each entry with its index, and
// 28 bytes for each call id (ids may come back at any time).
//
// # What is not said
//
// A rule never derives a contradiction from something that is absent: where a
// format does not record declarations, stop reasons or times, the rules that
// need them are silent, and [Summary] says what could not be known.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Source is a file to check.
type Source struct {
	Name   string    // in findings
	Reader io.Reader // the whole file, from its start

	// At reads the same bytes again. It is needed where a file returns to an
	// earlier branch. If it is nil, the file is held in memory instead.
	At io.ReaderAt
}

// Options of a run. The zero value is the default.
type Options struct {
	// Format names the format of the file; "" finds out.
	Format string

	// Severities overrides the severity of rules, by id: whatever a rule
	// finds then counts as that. See [Select] for a check of the ids.
	Severities map[string]Severity

	// Rules holds the options of rules, by id.
	Rules map[string]Values

	// Slice says that the file was cut out of a longer one: what it refers to
	// may be elsewhere.
	Slice bool

	// Finished says that the run that wrote the file is known to have ended,
	// so a torn tail or an open call is no run still going on.
	Finished bool

	// Anchor is the digest of the file that was kept elsewhere,
	// "v1:sha256:<hex>"; "" if there is none.
	Anchor string

	// Base is an earlier copy of the file, which must be the beginning of it.
	Base *Source

	MaxLine int // see transcript.Options
	Workers int // see transcript.Options

	memory lineMemory
}

// lineMemory is where lines are read into. Tests show that nothing keeps them.
type lineMemory uint8

const (
	lendLines     lineMemory = iota // memory that is used again
	ownLines                        // memory of their own
	scribbleLines                   // memory that is spoiled as soon as it may be used again
)

// Result is what a run found.
type Result struct {
	Summary  Summary
	Findings []Finding // in the order of [Compare]
}

// Run checks one file with the given rules. The error says that the file could
// not be checked to its end (I/O, a line longer than the limit, a format newer
// than this program, a rule that failed); what was found until then is in the
// result. Damage to the file is never an error: it is a finding.
//
// A file of a format that cannot be read gives a result with format "unknown",
// a note that says what was seen, and no findings.
func Run(ctx context.Context, src Source, rules []Rule, o Options) (Result, error) {
	if src.At == nil {
		b, err := io.ReadAll(src.Reader)
		if err != nil {
			return Result{Summary: unknownSummary(src.Name, "")}, fmt.Errorf("read %s: %w", src.Name, err)
		}
		src = memorySource(src.Name, b)
	}
	file, err := foreign.Open(src.Reader, src.Name, o.Format, transcript.Options{
		MaxLine: o.MaxLine, Workers: o.Workers, Lend: o.memory != ownLines, Scribble: o.memory == scribbleLines,
	})
	if unknown := (*foreign.UnknownError)(nil); errors.As(err, &unknown) {
		return Result{Summary: unknownSummary(src.Name, unknown.Seen)}, nil
	} else if err != nil {
		return Result{Summary: unknownSummary(src.Name, "")}, err
	}
	e, err := newEngine(src, file, rules, o)
	if err != nil {
		return Result{Summary: unknownSummary(src.Name, "")}, err
	}
	result, err := e.run(ctx)
	if err == nil && file.Looks != "" && e.nothing() {
		// Whoever names the wrong format must not read that all is well.
		return Result{Summary: unknownSummary(src.Name, file.Looks)}, nil
	}
	return result, err
}
