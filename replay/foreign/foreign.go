// Package foreign knows the kinds of transcript files: how to tell them apart
// by their first bytes, how much each can say about the tools a model had, and
// how to read the records of those that can be read.
//
// There is one table, [Formats]. Nothing that works on transcripts names a
// format: it asks the one it got from [Detect].
package foreign

import (
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// HeadSize is how much of a file [Detect] looks at, in bytes.
const HeadSize = 64 << 10

// Format is a kind of transcript file.
type Format struct {
	Name      string           // as on the command line
	Title     string           // for people
	Knowledge replay.Knowledge // the best that a file of this format can tell

	// Sniff reports whether a file begins like one of this format.
	Sniff func(h *Head) bool

	// Records gives the records of a line as entries, each with the name of
	// the chain it belongs to. Entries that name no parent follow the entry
	// before them in their chain. It is nil for formats that are recognised
	// but cannot be read.
	Records func(l *transcript.Line, yield func(chain string, e *transcript.Entry))

	// Seals says that files of this format can carry seals.
	Seals bool
}

// Formats is the table, in the order in which formats are tried.
func Formats() []Format {
	return []Format{
		results(),
		droid(),
		events(),
		turnlog(),
		pi(),
		openAI(),
		claudeCode(),
		claudeStream(),
		codex(),
		codexExec(),
		geminiStream(),
		kimi(),
		copilot(),
		batch(),
		jsonDocument(),
		cassette(),
	}
}

// Names of the formats that can be read.
func Names() []string {
	var names []string
	for _, f := range Formats() {
		if f.Records != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// Detect finds the format of a file by its first bytes, or the named one. If
// nothing readable is found, the format has no Records and seen says, as the
// end of a sentence, what the file looks like. The error is for an unknown
// name.
func Detect(head []byte, name string) (f Format, seen string, err error) {
	if name != "" {
		for _, f := range Formats() {
			if f.Name == name && f.Records != nil {
				return f, f.Title, nil
			}
		}
		return Format{}, "", fmt.Errorf("input format %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	var h *Head
	for _, objects := range []int{fewObjects, manyObjects} {
		h = newHead(head, objects)
		for _, f := range Formats() {
			if f.Sniff(h) {
				return f, f.Title, nil
			}
		}
	}
	return Format{}, h.describe(), nil
}
