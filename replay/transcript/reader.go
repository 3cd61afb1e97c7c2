package transcript

// Line is one physical line of a file, good or bad. Lines are split at LF
// only; the Raw of all lines put together is the file, byte for byte.
type Line struct {
	No     int    // the first line is 1
	Offset int64  // of Raw in the file
	Raw    []byte // with its line end, owned by the line; only the first 4 KiB of it if Damage is TooLong

	Damage  Damage
	Records []Entry // what could be read: none for a blank or damaged line, several for a glued one
	Notes   []Note  // what the raw bytes show although the record could be read
	Escaped bool    // a character below U+0100 is written as \u00XX: a search of Raw may miss it
	Err     error   // for damaged lines: a *SyntaxError that says where and what

	size int64 // of the line in the file
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

// Note is a fact about the bytes of a line that decoding hides. What is noted
// more than once on a line is one note with a count; keys and numbers are told
// apart by their text.
type Note struct {
	Kind   NoteKind
	Column int    // of the first occurrence, in bytes from 1
	Count  int    // occurrences on the line; of NULBytes and InvalidUTF8, bytes
	Text   string // the key, decoded; the number or the escape, as it stands there
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

	// Lend makes a line valid only until the next one is asked for: the memory
	// of most lines, their records and the strings in these is used again.
	// Those are the lines with a message of the user, the model or a tool, or a
	// record of an unknown type. What histories refer back to has memory of its
	// own as ever: headers, system messages, compactions, edits, custom entries
	// and all else that has a typed part, and damaged lines.
	Lend bool

	// Scribble overwrites what was lent as soon as it is no longer valid. It
	// is for tests of those who ask for Lend.
	Scribble bool
}
