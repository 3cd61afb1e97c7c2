package transcript

import (
	"bytes"
	"cmp"
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
// with its records, but with no other line. With more than one worker the lines
// of one read are parsed while the next ones are read, and r is read ahead of
// what was yielded by a few MiB; r is only ever read in the caller's goroutine.
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
		read := lineReader{max: o.MaxLine, loan: &loan{lent: o.Lend}}
		for src.next() {
			for b := range bytes.Lines(src.chunk.b) {
				line := read.line(b, src.chunk.skipped)
				n.number(&line)
				if !yield(line, nil) {
					return
				}
				if b = nil; line.mayLend() {
					b = line.Raw
				}
				read.loan.takeBack(b, o.Scribble)
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

// lineReader makes lines out of their bytes.
type lineReader struct {
	p    parser
	max  int
	loan *loan
}

// headSize is how much is kept of a line that is too long.
const headSize = 4096

// line reads one line, of which skipped bytes are missing; b is copied, or lent.
func (lr *lineReader) line(b []byte, skipped int64) Line {
	size := int64(len(b)) + skipped
	if n := len(bytes.TrimSuffix(b, []byte("\n"))); n > lr.max || skipped > 0 {
		return Line{
			Raw: bytes.Clone(b[:min(n, headSize)]), Damage: TooLong, size: size,
			Err: &SyntaxError{Column: lr.max + 1, Msg: fmt.Sprintf("longer than %d bytes", lr.max)},
		}
	}
	if lr.loan.lent {
		l := Line{Raw: b, size: size}
		lr.p.lend(lr.loan)
		if lr.parse(&l); l.mayLend() {
			return l
		}
		lr.p.lend(&lr.p.own)
	}
	raw := make([]byte, len(b))
	copy(raw, b)
	l := Line{Raw: raw, size: size}
	lr.parse(&l)
	return l
}

// parse reads the records of l from its bytes.
func (lr *lineReader) parse(l *Line) {
	p, body := &lr.p, content(l.Raw)
	var notes, nul []Note
	var gaps []gap
	if rest, ok := bytes.CutPrefix(body, bom); ok {
		body, gaps = rest, []gap{{0, len(bom)}}
		notes = append(notes, Note{Kind: ByteOrderMark, Column: 1, Count: 1})
	}
	dirty := !utf8.Valid(body)
	p.reset(body, gaps, dirty)
	whole := lr.whole(l)
	if i := bytes.IndexByte(body, 0); !whole && i >= 0 {
		nul = []Note{{Kind: NULBytes, Column: p.column(i), Count: bytes.Count(body, []byte{0})}}
		body, gaps = withoutNUL(body, gaps)
		p.reset(body, gaps, dirty)
		whole = lr.whole(l)
	}
	if whole {
		l.finish(p, slices.Concat(notes, nul, p.notes), dirty)
	} else {
		lr.damaged(l, notes, nul, dirty)
	}
}

var bom = []byte("\xEF\xBB\xBF")

// content is a line without its end.
func content(raw []byte) []byte {
	if b, ok := bytes.CutSuffix(raw, []byte("\n")); ok {
		return bytes.TrimSuffix(b, []byte("\r"))
	}
	return raw
}

// whole reads a line that is blank or one value.
func (lr *lineReader) whole(l *Line) bool {
	p := &lr.p
	if len(bytes.TrimSpace(p.Data)) == 0 {
		return true
	}
	records := copies(p.loan, &p.loan.entries, Entry{})
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
		slices.SortStableFunc(notes, func(a, b Note) int { return cmp.Compare(a.Column, b.Column) })
		l.Notes = slices.Clip(notes)
	}
}

// damaged reads what can be read of a line that is not one value.
func (lr *lineReader) damaged(l *Line, notes, nul []Note, dirty bool) {
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
	case !bytes.HasSuffix(l.Raw, []byte("\n")):
		l.Damage = TornTail
		l.finish(p, notes, false)
		return
	default:
		l.Damage = TornLine
	}
	l.finish(p, slices.Concat(notes, nul, r.notes), dirty, append(r.seams, len(p.Data))...)
}

// withoutNUL returns b without zero bytes, and where they were.
func withoutNUL(b []byte, gaps []gap) ([]byte, []gap) {
	out := make([]byte, 0, len(b))
	missing := 0
	if len(gaps) > 0 {
		missing = gaps[0].missing
	}
	for i, c := range b {
		if c != 0 {
			out = append(out, c)
			continue
		}
		if missing++; i+1 == len(b) || b[i+1] != 0 {
			gaps = append(gaps, gap{len(out), missing})
		}
	}
	return out, gaps
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("column %d: %s", e.Column, e.Msg)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}
