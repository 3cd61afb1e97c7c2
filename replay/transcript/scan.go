package transcript

import (
	"bytes"
	"slices"
)

// maxDepth is the nesting that encoding/json accepts, so that a record which
// one of the two reads is never refused by the other.
const maxDepth = 10000

// parser validates and decodes one line in one pass. It is strict: it accepts
// exactly what encoding/json.Valid accepts. The first failure sticks and moves
// the position to the end, so callers need not check after each step.
//
// One parser serves many lines; what it decodes never shares its buffers, but
// for those of a loan.
type parser struct {
	b     []byte
	i     int
	depth int

	failed bool
	at     int    // offset of the failure
	msg    string // what was expected there

	escaped bool // Line.Escaped
	dirty   bool // b is not valid UTF-8: strings are cleaned as they are decoded
	free    int  // > 0 inside data that the format does not interpret
	ints    bool // inside tool call arguments

	// The object closed last outside free data; see recovery.
	closedFrom, closedTo int

	keys   []key   // of all open objects
	notes  []Note  // found so far
	gaps   []gap   // where bytes were taken out of the line
	text   []byte  // room to decode a string, without a loan
	loan   *loan   // takes what is decoded; nil gives it memory of its own
	blocks []Block // of the content being read
}

// gap is a place of b before which bytes of the physical line are missing;
// missing counts those of earlier gaps, too.
type gap struct{ off, missing int }

// reset makes p read b. Columns count the gaps in.
func (p *parser) reset(b []byte, gaps []gap, dirty bool) {
	p.b, p.gaps, p.dirty, p.escaped = b, gaps, dirty, false
	p.seek(0)
	p.notes = p.notes[:0]
	if len(p.text) > maxKept {
		p.text = nil
	}
}

// maxKept is the longest buffer that is kept for later lines.
const maxKept = 4 << 20

// seek starts a new record at offset i.
func (p *parser) seek(i int) {
	p.i, p.depth, p.free, p.ints, p.failed = i, 0, 0, false, false
	p.closedFrom, p.closedTo = -1, -1
	p.keys, p.blocks = p.keys[:0], p.blocks[:0]
}

func (p *parser) fail(at int, msg string) {
	if !p.failed {
		p.failed, p.at, p.msg = true, at, msg
	}
	p.i = len(p.b)
}

// unexpected fails at the next byte.
func (p *parser) unexpected(want string) {
	if p.i >= len(p.b) {
		p.fail(p.i, "the line ends, expected "+want)
		return
	}
	p.fail(p.i, "expected "+want)
}

// column is the column in the physical line of offset i.
func (p *parser) column(i int) int {
	if len(p.gaps) == 0 {
		return i + 1
	}
	k, _ := slices.BinarySearchFunc(p.gaps, i+1, func(g gap, i int) int { return g.off - i })
	if k > 0 {
		i += p.gaps[k-1].missing
	}
	return i + 1
}

// peek skips white space and returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	for p.i < len(p.b) {
		c := p.b[p.i]
		if c > ' ' || !isSpace(c) {
			return c
		}
		p.i++
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// value validates any value and returns its bytes.
func (p *parser) value() []byte {
	c := p.peek()
	start := p.i
	switch {
	case c == '"':
		p.skipString()
	case c == '{':
		o := p.open()
		for p.next(&o) {
			p.value()
		}
		p.close(&o)
	case c == '[':
		for n := 0; p.item(n); n++ {
			p.value()
		}
	case c == '-' || '0' <= c && c <= '9':
		p.number()
		if p.ints {
			p.checkInteger(start)
		}
	case c == 't':
		p.literal("true")
	case c == 'f':
		p.literal("false")
	case c == 'n':
		p.literal("null")
	default:
		p.unexpected("a value")
	}
	return p.since(start)
}

// since returns the bytes from start to the position, nil after a failure.
func (p *parser) since(start int) []byte {
	if p.failed {
		return nil
	}
	return p.b[start:p.i:p.i]
}

// raw validates a value whose inside is free data.
func (p *parser) raw() []byte {
	p.free++
	v := p.value()
	p.free--
	return v
}

// item moves to item n of an array: it reads the bracket or comma before it,
// or the bracket after the last one, which it reports by false.
func (p *parser) item(n int) bool {
	c := p.peek()
	if n == 0 {
		p.i++ // '[', the caller has seen it
		if !p.enter() {
			return false
		}
		if p.peek() != ']' {
			return true
		}
	} else if c == ',' {
		p.i++
		return true
	} else if c != ']' {
		p.unexpected("a comma or ]")
		return false
	}
	p.i++
	p.depth--
	return false
}

func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.i-1, "nested deeper than 10000")
	}
	return !p.failed
}

func (p *parser) literal(want string) {
	for k := range len(want) {
		if p.i+k >= len(p.b) || p.b[p.i+k] != want[k] {
			p.i += k
			p.unexpected(want)
			return
		}
	}
	p.i += len(want)
}

// number validates a number and reports whether it is an integer literal.
func (p *parser) number() (integer bool) {
	if p.b[p.i] == '-' {
		p.i++
	}
	if p.i < len(p.b) && p.b[p.i] == '0' {
		p.i++
	} else {
		p.digits()
	}
	integer = true
	if p.i < len(p.b) && p.b[p.i] == '.' {
		p.i++
		p.digits()
		integer = false
	}
	if p.i < len(p.b) && p.b[p.i]|0x20 == 'e' {
		p.i++
		if p.i < len(p.b) && (p.b[p.i] == '+' || p.b[p.i] == '-') {
			p.i++
		}
		p.digits()
		integer = false
	}
	return integer
}

// digits reads one digit or more.
func (p *parser) digits() {
	start := p.i
	for p.i < len(p.b) && p.b[p.i]-'0' <= 9 {
		p.i++
	}
	if p.i == start {
		p.unexpected("a digit")
	}
}

// checkInteger notes an integer that a JavaScript reader would round.
func (p *parser) checkInteger(start int) {
	const limit = "9007199254740991"
	lit := p.b[start:p.i]
	digits := bytes.TrimPrefix(lit, []byte("-"))
	if p.failed || len(digits) < len(limit) || bytes.ContainsAny(digits, ".eE") {
		return
	}
	if len(digits) > len(limit) || string(digits) > limit {
		p.note(UnsafeInteger, start, string(lit))
	}
}
