package transcript

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"unicode/utf8"
)

// Lines yields every physical line of r in order. The error is an I/O error
// of r and ends the sequence; damage to a line is in the line.
//
// A line owns its bytes unless Options.Lend says otherwise: they are shared
// with its records, but with no other line. With more than one worker the lines of one read are parsed while the
// next ones are read, and r is read ahead of what was yielded by a few MiB;
// r is only ever read in the caller's goroutine.
func Lines(r io.Reader, o Options) iter.Seq2[Line, error] {
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	return func(yield func(Line, error) bool) {
		src := source{r: r, max: o.MaxLine}
		if o.Workers > 1 {
			parallel(&src, o, yield)
			return
		}
		n := numbering{}
		read := lineReader{max: o.MaxLine}
		if o.Lend {
			read.loan = new(loan)
		}
		for src.next() {
			for line := range read.lines(src.chunk) {
				n.number(&line)
				if !yield(line, nil) {
					return
				}
				read.takeBack(&line, o.Scribble)
			}
		}
		if src.err != nil {
			yield(Line{}, src.err)
		}
	}
}

// numbering gives lines their places in the file.
type numbering struct {
	lines  int
	offset int64
}

func (n *numbering) number(l *Line) {
	n.lines++
	l.No, l.Offset = n.lines, n.offset
	n.offset += l.size
	for i := range l.Records {
		l.Records[i].Line = l.No
	}
	if e, ok := l.Err.(*SyntaxError); ok {
		e.Line = l.No
	}
}

// lineReader turns chunks into lines.
type lineReader struct {
	p    parser
	max  int
	loan *loan // nil if lines own their memory
}

// lines yields the lines of a chunk, without their places in the file.
func (lr *lineReader) lines(c chunk) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for b := c.b; len(b) > 0; {
			n := bytes.IndexByte(b, '\n') + 1
			if n == 0 {
				n = len(b)
			}
			if !yield(lr.line(b[:n], c)) {
				return
			}
			b = b[n:]
		}
	}
}

// headSize is how much is kept of a line that is too long.
const headSize = 4096

// line reads one line; b is copied, or lent.
func (lr *lineReader) line(b []byte, c chunk) Line {
	size := int64(len(b)) + c.skipped
	if n := len(bytes.TrimSuffix(b, []byte("\n"))); n > lr.max || c.skipped > 0 {
		return Line{
			Raw: bytes.Clone(b[:min(n, headSize)]), Damage: TooLong, size: size,
			Err: &SyntaxError{Column: lr.max + 1, Msg: fmt.Sprintf("longer than %d bytes", lr.max)},
		}
	}
	if lr.loan != nil {
		l := Line{Raw: b[:len(b):len(b)], size: size}
		lr.p.lend(lr.loan)
		if lr.parse(&l); l.mayLend() {
			return l
		}
		lr.p.lend(nil)
	}
	raw := make([]byte, len(b))
	copy(raw, b)
	l := Line{Raw: raw, size: size}
	lr.parse(&l)
	return l
}

// takeBack ends the loan of a line, the only one that was lent.
func (lr *lineReader) takeBack(l *Line, scribble bool) {
	if lr.loan == nil {
		return
	}
	if scribble && l.mayLend() {
		spoil(l.Raw)
		lr.loan.scribble()
	}
	lr.loan.reset()
}

// parse reads the records of l from its bytes.
func (lr *lineReader) parse(l *Line) {
	body := content(l.Raw)
	p := &lr.p
	var notes []Note
	var gaps []gap
	if rest, ok := bytes.CutPrefix(body, bom); ok {
		body, gaps = rest, []gap{{0, len(bom)}}
		notes = append(notes, Note{Kind: ByteOrderMark, Column: 1, Count: 1})
	}
	dirty := !utf8.Valid(body)
	p.reset(body, gaps, dirty)
	if lr.whole(l) {
		l.finish(p, append(notes, p.notes...), dirty)
		return
	}
	if i := bytes.IndexByte(body, 0); i >= 0 {
		count := bytes.Count(body, []byte{0})
		tail := l.unended()
		body, gaps = withoutNUL(body, gaps)
		nul := Note{Kind: NULBytes, Column: p.column(i), Count: count}
		p.reset(body, gaps, dirty)
		if lr.whole(l) {
			l.finish(p, append(append(notes, nul), p.notes...), dirty)
			return
		}
		lr.damaged(l, notes, &nul, dirty, tail)
		return
	}
	lr.damaged(l, notes, nil, dirty, l.unended())
}

var bom = []byte("\xEF\xBB\xBF")

// content is a line without its end.
func content(raw []byte) []byte {
	if b, ok := bytes.CutSuffix(raw, []byte("\n")); ok {
		return bytes.TrimSuffix(b, []byte("\r"))
	}
	return raw
}

func (l *Line) unended() bool { return len(l.Raw) > 0 && l.Raw[len(l.Raw)-1] != '\n' }

// whole reads a line that is blank or one value.
func (lr *lineReader) whole(l *Line) bool {
	p := &lr.p
	if len(bytes.TrimSpace(p.Data)) == 0 {
		return true
	}
	records := p.loan.entry()
	p.record(&records[0])
	p.End()
	if p.Failed {
		return false
	}
	records[0].Raw = p.Data
	l.Records = records
	return true
}

func (l *Line) finish(p *parser, notes []Note, dirty bool, ends ...int) {
	l.Escaped = p.Escaped
	if dirty {
		notes = p.noteBadUTF8(notes, ends...)
	}
	if len(notes) > 0 {
		sortNotes(notes)
		l.Notes = slices.Clip(notes)
	}
}

// damaged reads what can be read of a line that is not one value.
func (lr *lineReader) damaged(l *Line, notes []Note, nul *Note, dirty, tail bool) {
	p := &lr.p
	first := p.syntaxError()
	r := recoverRecords(p)
	l.Records, l.Err = r.records, first
	switch {
	case len(r.records) > 0:
		l.Damage = Glued
		at := r.end
		if len(r.seams) > 0 {
			at = r.seams[0]
		}
		l.Err = &SyntaxError{Column: p.column(at), Msg: "several records or parts of them on one line"}
	case tail:
		l.Damage = TornTail
		l.finish(p, notes, false)
		return
	default:
		l.Damage = TornLine
	}
	if nul != nil {
		notes = append(notes, *nul)
	}
	l.finish(p, append(notes, r.notes...), dirty, append(r.seams, len(p.Data))...)
}

// withoutNUL returns b without zero bytes, and where they were.
func withoutNUL(b []byte, gaps []gap) ([]byte, []gap) {
	out := make([]byte, 0, len(b))
	missing := 0
	if len(gaps) > 0 {
		missing = gaps[len(gaps)-1].missing
	}
	for len(b) > 0 {
		n := bytes.IndexByte(b, 0)
		if n < 0 {
			n = len(b)
		}
		out = append(out, b[:n]...)
		zeros := len(b) - n - len(bytes.TrimLeft(b[n:], "\x00"))
		if zeros > 0 {
			missing += zeros
			gaps = append(gaps, gap{len(out), missing})
		}
		b = b[n+zeros:]
	}
	return out, gaps
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("column %d: %s", e.Column, e.Msg)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}
