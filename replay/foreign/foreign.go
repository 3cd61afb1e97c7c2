// Package foreign knows the kinds of transcript files: how to tell them apart
// by their first bytes, what each can say, and how to read the records of those
// that can be read.
//
// There is one table, [Formats], and one way to open a file, [Open]. Nothing
// that works on transcripts names a format: it asks what the one it got can
// tell ([Capability]).
package foreign

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
)

// HeadSize is how much of a file [Detect] looks at, in bytes.
const HeadSize = 64 << 10

// Capability is a set of what a format can tell.
type Capability uint8

// What formats can tell besides messages.
const (
	Links     Capability = 1 << iota // entries have ids and name their parents, so a file may have branches
	Headers                          // a header is due as the first record
	Seals                            // runs may end with a seal, and requests may be recorded
	Lifecycle                        // starts and ends of runs, turns, messages and calls
)

// Format is a kind of transcript file.
type Format struct {
	Name      string           // as on the command line
	Title     string           // for people
	Knowledge replay.Knowledge // the best that a file of this format can tell of tools
	Can       Capability

	// Sniff reports whether a file begins like one of this format.
	Sniff func(h *Head) bool

	// Lines starts to read a file of lines: the function that it returns takes
	// every physical line in order, gives the records that the line completes,
	// and may keep state in between.
	Lines func() func(l *transcript.Line) tree.Part

	// Document reads a file that is one document. A format that has neither
	// Lines nor Document is recognised and cannot be read.
	Document func(r io.Reader, o transcript.Options) iter.Seq2[tree.Part, error]
}

// Readable reports whether files of the format can be read.
func (f *Format) Readable() bool { return f.Lines != nil || f.Document != nil }

// Has reports whether a format can tell all of c.
func (f *Format) Has(c Capability) bool { return f.Can&c == c }

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

// Names of the formats that can be read and can tell all of c.
func Names(c Capability) []string {
	var names []string
	for _, f := range Formats() {
		if f.Readable() && f.Has(c) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Detect finds the format of a file by its first bytes, or the named one. If
// nothing readable is found, it is one that cannot be read and seen says, as the
// end of a sentence, what the file looks like. The error is a
// *FormatError.
func Detect(head []byte, name string) (f Format, seen string, err error) {
	if name != "" {
		for _, f := range Formats() {
			if f.Name == name && f.Readable() {
				return f, f.Title, nil
			}
		}
		return Format{}, "", &FormatError{Name: name}
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

// File is a file whose format is known.
type File struct {
	Name   string
	Format Format
	Looks  string // what its head looks like if another format than that was asked for; "" if not

	// Options of reading it. Who holds on to no line may let them be lent.
	Options transcript.Options

	r io.Reader
}

// UnknownError says that a file is no transcript that can be read.
type UnknownError struct {
	Name string
	Seen string // what it looks like, as the end of a sentence
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s: not a transcript that can be read: it looks like %s", e.Name, e.Seen)
}

// FormatError says that no readable format has a name.
type FormatError struct{ Name string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("input format %q: want one of %s", e.Name, strings.Join(Names(0), ", "))
}

// Open finds the format of a file by its head, or takes the named one, and gets
// it ready to be read. name is for messages. Errors are an *UnknownError, a
// *FormatError for a name that no readable format has, and I/O errors.
func Open(r io.Reader, name, format string, o transcript.Options) (*File, error) {
	head, err := io.ReadAll(io.LimitReader(r, HeadSize))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	f, seen, err := Detect(head, format)
	if err != nil {
		return nil, err
	}
	if !f.Readable() {
		return nil, &UnknownError{Name: name, Seen: seen}
	}
	file := &File{Name: name, Format: f, r: io.MultiReader(bytes.NewReader(head), r), Options: o}
	if len(head) < HeadSize {
		file.r = bytes.NewReader(head)
	}
	if format != "" {
		if sniffed, seen, _ := Detect(head, ""); sniffed.Name != f.Name {
			file.Looks = seen
		}
	}
	return file, nil
}

// Parts reads the file, once. See [transcript.Options] for how long a part and
// its records are valid.
func (f *File) Parts() iter.Seq2[tree.Part, error] {
	if f.Format.Document != nil {
		return f.Format.Document(f.r, f.Options)
	}
	return func(yield func(tree.Part, error) bool) {
		part := f.Format.Lines()
		for l, err := range transcript.Lines(f.r, f.Options) {
			if !yield(part(&l), err) {
				return
			}
		}
	}
}

// Again gives the records of a line that is read once more by itself.
func (f *File) Again(l *transcript.Line) []tree.Record { return f.Format.Lines()(l).Records }

// Knowledge says how well the file tells which tools the model had, if some
// entry of it declares tools, or none does.
func (f *File) Knowledge(declares bool) replay.Knowledge {
	if !declares {
		return replay.Unknown
	}
	return f.Format.Knowledge
}
