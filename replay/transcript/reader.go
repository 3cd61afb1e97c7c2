package transcript

import (
	"io"
	"iter"
)

// Line is one physical line of a file, good or bad. Lines are split at LF
// only; the Raw of all lines put together is the file, byte for byte.
type Line struct {
	No     int    // the first line is 1
	Offset int64  // of Raw in the file
	Raw    []byte // with its line end, owned by the line; only the head of it if Damage is TooLong

	Damage  Damage
	Records []Entry // what could be read: none for a blank or damaged line, several for a glued one
	Notes   []Note  // what the raw bytes show although the record could be read
	Err     error   // for damaged lines: a *SyntaxError that says where and what
}

// Blank reports whether the line has nothing but white space.
func (l *Line) Blank() bool { return len(l.Records) == 0 && l.Damage == Intact }

// Damage tells what is wrong with a line as a whole.
type Damage uint8

const (
	Intact   Damage = iota
	TornLine        // not JSON, and no whole record in it
	TornTail        // the last line, without line end and cut off
	Glued           // a fragment and a record, or several records
	TooLong         // longer than Options.MaxLine
)

// Note is a fact about the bytes of a line that decoding hides.
type Note struct {
	Kind   NoteKind
	Column int    // in bytes from 1
	Count  int    // occurrences on the line
	Text   string // the key, the number, …
}

// NoteKind is a kind of [Note].
type NoteKind uint8

const (
	ByteOrderMark NoteKind = iota + 1 // at the start of the line
	NULBytes                          // raw zero bytes, taken out before parsing
	InvalidUTF8                       // bytes that are no UTF-8, outside a torn tail
	LoneSurrogate                     // half a surrogate pair, as an escape or as CESU bytes
	DuplicateKey                      // one object names a key twice
	FoldedKey                         // two keys of an interpreted object differ only by case
	UnsafeInteger                     // an integer beyond 2^53-1 inside tool call arguments
)

// SyntaxError says where a line stops being JSON.
type SyntaxError struct {
	Line   int
	Column int // in bytes from 1
	Msg    string
}

// DefaultMaxLine is the longest line that is read unless Options say
// otherwise: screenshots make lines of 15 MB in the field.
const DefaultMaxLine = 64 << 20

// Options of [Lines]. The zero value is the default.
type Options struct {
	MaxLine int // in bytes; 0 means DefaultMaxLine
	Workers int // parsing goroutines; 0 or 1 parses in the caller's
}

// Lines yields every physical line of r in order. The error is an I/O error
// of r and ends the sequence; damage to a line is in the line.
func Lines(r io.Reader, o Options) iter.Seq2[Line, error] {
	panic("unwritten")
}

// ParseEntry reads one record from JSON bytes, which it keeps as Raw.
func ParseEntry(raw []byte) (Entry, error) { panic("unwritten") }

// ParseMessage reads a message from JSON bytes.
func ParseMessage(raw []byte) (Message, error) { panic("unwritten") }

func (e *SyntaxError) Error() string { panic("unwritten") }

// AppendEntry appends e as one JSON object without line end: Raw if it is
// there, else its fields in a fixed order.
func AppendEntry(dst []byte, e *Entry) []byte { panic("unwritten") }

// AppendMessage appends m as one JSON object, fields in a fixed order, without
// HTML escaping.
func AppendMessage(dst []byte, m *Message) []byte { panic("unwritten") }

// AppendTool appends a declaration: name, description, parameters, the rest.
// Two declarations are equal if and only if these bytes are.
func AppendTool(dst []byte, t *Tool) []byte { panic("unwritten") }

// MarshalJSON implements [encoding/json.Marshaler] with [AppendMessage].
func (m Message) MarshalJSON() ([]byte, error) { return AppendMessage(nil, &m), nil }

// UnmarshalJSON implements [encoding/json.Unmarshaler] with [ParseMessage].
func (m *Message) UnmarshalJSON(b []byte) (err error) { *m, err = ParseMessage(b); return err }
