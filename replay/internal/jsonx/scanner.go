// Package jsonx walks over JSON texts, for all packages of replay: it
// validates and decodes in one pass, keeps track of places, and shares memory
// where that is wanted. It is strict: it accepts exactly what
// encoding/json.Valid accepts.
package jsonx

import (
	"bytes"
	"unicode/utf8"
)

// MaxDepth is the nesting that encoding/json accepts, so that a text which one
// of the two reads is never refused by the other.
const MaxDepth = 10000

// Scanner reads values from Data, one after the other. The first failure
// sticks and moves the position to the end, so callers need not check after
// each step. A Scanner serves many texts; see [Scanner.Reset].
type Scanner struct {
	Data []byte
	Pos  int

	Failed bool
	At     int    // offset of the failure
	Msg    string // what was expected there

	Dirty   bool // Data is not valid UTF-8: strings are cleaned as they are decoded
	Escaped bool // a character below U+0100 was written as \u00XX

	Free int  // > 0 inside data that the caller does not interpret
	Ints bool // whether integers that JavaScript would round are odd

	// The object closed last while Free was 0, -1 if there is none.
	ClosedFrom, ClosedTo int

	// Odd is told what decoding hides. Nil spares the search for keys that are
	// repeated.
	Odd func(kind Oddity, at int, text string)

	Arena *Arena // takes decoded strings; nil gives them memory of their own

	depth int
	keys  []key  // of all open objects
	text  []byte // room to decode a string, without an Arena
}

// Oddity is a kind of thing that readers take for different things.
type Oddity uint8

// The oddities; what is said of each is its text.
const (
	LoneSurrogate Oddity = iota // half a surrogate pair, the escape
	RepeatedKey                 // a key that the object has already, decoded
	UnsafeInteger               // beyond 2^53-1, the number
)

// New returns a scanner of data. What it decodes shares data.
func New(data []byte) *Scanner {
	s := new(Scanner)
	s.Reset(data, !utf8.Valid(data))
	return s
}

// Reset starts with another text. It keeps what the caller has set.
func (s *Scanner) Reset(data []byte, dirty bool) {
	s.Data, s.Dirty, s.Escaped = data, dirty, false
	s.Seek(0)
	if len(s.text) > MaxKept {
		s.text = nil
	}
}

// MaxKept is the longest buffer that is kept for later texts.
const MaxKept = 4 << 20

// Seek starts a new value at offset i.
func (s *Scanner) Seek(i int) {
	s.Pos, s.depth, s.Free, s.Ints, s.Failed = i, 0, 0, false, false
	s.ClosedFrom, s.ClosedTo = -1, -1
	s.keys = s.keys[:0]
}

// Fail fails at an offset, unless it has failed before.
func (s *Scanner) Fail(at int, msg string) {
	if !s.Failed {
		s.Failed, s.At, s.Msg = true, at, msg
	}
	s.Pos = len(s.Data)
}

// Unexpected fails at the next byte.
func (s *Scanner) Unexpected(want string) {
	if s.Pos >= len(s.Data) {
		s.Fail(s.Pos, "the line ends, expected "+want)
		return
	}
	s.Fail(s.Pos, "expected "+want)
}

// End accepts white space only.
func (s *Scanner) End() {
	if s.Peek(); s.Pos < len(s.Data) {
		s.Fail(s.Pos, "more bytes after the value")
	}
}

// Peek skips white space and returns the next byte, 0 at the end.
func (s *Scanner) Peek() byte {
	for s.Pos < len(s.Data) {
		c := s.Data[s.Pos]
		if c > ' ' || !IsSpace(c) {
			return c
		}
		s.Pos++
	}
	return 0
}

// Space is the white space between tokens.
const Space = " \t\r\n"

// IsSpace reports whether c is white space between tokens.
func IsSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// Value validates any value and returns its bytes, nil after a failure.
func (s *Scanner) Value() []byte {
	c := s.Peek()
	start := s.Pos
	switch {
	case c == '"':
		s.SkipString()
	case c == '{':
		for o := s.Open(); s.Next(&o); {
			s.Value()
		}
	case c == '[':
		for n := 0; s.Item(n); n++ {
			s.Value()
		}
	case c == '-' || '0' <= c && c <= '9':
		s.number()
		if s.Ints {
			s.checkInteger(start)
		}
	case c == 't':
		s.Literal("true")
	case c == 'f':
		s.Literal("false")
	case c == 'n':
		s.Literal("null")
	default:
		s.Unexpected("a value")
	}
	if s.Failed {
		return nil
	}
	return s.Data[start:s.Pos:s.Pos]
}

// Raw is Value for free data.
func (s *Scanner) Raw() []byte {
	s.Free++
	v := s.Value()
	s.Free--
	return v
}

// Item moves to item n of an array: it reads the bracket or comma before it,
// or the bracket after the last one, which it reports by false.
func (s *Scanner) Item(n int) bool {
	c := s.Peek()
	if n == 0 {
		s.Pos++ // '[', the caller has seen it
		if !s.enter() {
			return false
		}
		if s.Peek() != ']' {
			return true
		}
	} else if c == ',' {
		s.Pos++
		return true
	} else if c != ']' {
		s.Unexpected("a comma or ]")
		return false
	}
	s.Pos++
	s.depth--
	return false
}

func (s *Scanner) enter() bool {
	if s.depth++; s.depth > MaxDepth {
		s.Fail(s.Pos-1, "nested deeper than 10000")
	}
	return !s.Failed
}

// Literal reads true, false or null.
func (s *Scanner) Literal(want string) {
	for k := range len(want) {
		if s.Pos+k >= len(s.Data) || s.Data[s.Pos+k] != want[k] {
			s.Pos += k
			s.Unexpected(want)
			return
		}
	}
	s.Pos += len(want)
}

// SmallInteger reads an integer without sign of up to 15 digits, by far the
// most common number. It stays in front of any other value.
func (s *Scanner) SmallInteger() (n int64, ok bool) {
	s.Peek()
	b, i := s.Data, s.Pos
	for i < len(b) && b[i]-'0' <= 9 {
		n = n*10 + int64(b[i]-'0')
		i++
	}
	digits := i - s.Pos
	if digits == 0 || digits > 15 || i == len(b) || b[s.Pos] == '0' && digits > 1 || b[i] != ',' && b[i] != '}' {
		return 0, false
	}
	s.Pos = i
	return n, true
}

func (s *Scanner) number() {
	if s.Data[s.Pos] == '-' {
		s.Pos++
	}
	if !s.accept('0') {
		s.digits()
	}
	if s.accept('.') {
		s.digits()
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		s.digits()
	}
}

func (s *Scanner) accept(c byte) bool {
	if s.Pos < len(s.Data) && s.Data[s.Pos] == c {
		s.Pos++
		return true
	}
	return false
}

// digits reads one digit or more.
func (s *Scanner) digits() {
	start := s.Pos
	for s.Pos < len(s.Data) && s.Data[s.Pos]-'0' <= 9 {
		s.Pos++
	}
	if s.Pos == start {
		s.Unexpected("a digit")
	}
}

// checkInteger tells of an integer that a JavaScript reader would round.
func (s *Scanner) checkInteger(start int) {
	const limit = "9007199254740991"
	lit := s.Data[start:s.Pos]
	digits := bytes.TrimPrefix(lit, []byte("-"))
	if s.Failed || len(digits) < len(limit) || bytes.ContainsAny(digits, ".eE") {
		return
	}
	if len(digits) > len(limit) || string(digits) > limit {
		s.odd(UnsafeInteger, start, string(lit))
	}
}

func (s *Scanner) odd(kind Oddity, at int, text string) {
	if s.Odd != nil {
		s.Odd(kind, at, text)
	}
}
