// Package sse reads the answers of endpoints as streams of server-sent events,
// and the errors in them.
package sse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

const (
	// ContentType of an event stream.
	ContentType = "text/event-stream"

	bom = "\xef\xbb\xbf"
	// maxLine bounds an event. One data line of 5 MiB has been seen in the
	// wild (images, whole files as arguments); the limit is there for streams
	// that never end a line.
	maxLine  = 64 << 20
	maxStray = 4 << 10 // bytes kept of lines that belong to no event
)

// TooLongError is an event, or an answer, that does not fit.
type TooLongError struct{ Limit int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("read the stream: longer than %d bytes", e.Limit)
}

// Reader reads server-sent events and gives them in the one form that
// go-openai reads rightly: one `data:` line and a blank line for each event.
// Comments and other fields are dropped, a byte order mark too, the lines of
// one event are joined, a last line without its newline is completed, and an
// error in any shape becomes {"error":{…}} with its own blank line, because
// go-openai reports it only at the following line. After [DONE] and after an
// error nothing more is read.
type Reader struct {
	src   io.Reader
	limit int

	in         []byte // unread input is in[start:end]
	start, end int
	scanned    int // of the unread input, without a line end
	skipLF     bool
	first      bool // no line was read yet

	event string
	data  []byte // of the event under way
	has   bool   // data has a line

	out    []byte // for the consumer
	given  int
	events int
	ended  bool // [DONE] was seen
	err    error
	stray  []byte // beginning of what belongs to no event
}

func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, limit: maxLine, in: make([]byte, 4<<10), first: true}
}

// Read gives the next bytes of the frames.
func (r *Reader) Read(p []byte) (int, error) {
	for r.given == len(r.out) {
		if r.err != nil {
			return 0, r.err
		}
		r.out, r.given = r.out[:0], 0
		r.step()
	}
	n := copy(p, r.out[r.given:])
	r.given += n
	return n, nil
}

// step takes one line.
func (r *Reader) step() {
	line, whole, err := r.line()
	if r.first && len(line) > 0 {
		line, r.first = bytes.TrimPrefix(line, []byte(bom)), false
	}
	switch {
	case err == nil:
	case err == io.EOF && !r.ended:
		// A stream may lack its last newline, and its last blank line.
		if len(line) > 0 && !whole {
			r.field(line)
		}
		r.dispatchWhole()
		r.foreign()
		r.fail(io.EOF)
		return
	default:
		r.dispatchWhole()
		r.fail(err)
		return
	}
	if len(line) == 0 {
		r.dispatch()
		return
	}
	r.field(line)
}

func (r *Reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// line gives the next line without its end: LF, CRLF or CR. The slice is valid
// until the next call. At the end of the input it gives what is left, not
// whole, with the error.
func (r *Reader) line() (line []byte, whole bool, err error) {
	for {
		if r.skipLF && r.start < r.end {
			if r.in[r.start] == '\n' {
				r.start++
			}
			r.skipLF = false
		}
		if i := lineEnd(r.in[r.start+r.scanned : r.end]); i >= 0 {
			i += r.start + r.scanned
			line, r.skipLF = r.in[r.start:i], r.in[i] == '\r'
			r.start, r.scanned = i+1, 0
			return line, true, nil
		}
		r.scanned = r.end - r.start
		if r.scanned > r.limit {
			return nil, false, &TooLongError{r.limit}
		}
		if err := r.fill(); err != nil {
			line = r.in[r.start:r.end]
			r.start, r.scanned = r.end, 0
			return line, false, err
		}
	}
}

func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if j := bytes.IndexByte(b[:max(i, 0)], '\r'); j >= 0 {
		return j
	}
	if i < 0 {
		return bytes.IndexByte(b, '\r')
	}
	return i
}

func (r *Reader) fill() error {
	if r.start > 0 {
		r.end = copy(r.in, r.in[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.in) {
		r.in = append(r.in, make([]byte, len(r.in))...)
	}
	for range 100 {
		n, err := r.src.Read(r.in[r.end:])
		r.end += n
		if n > 0 {
			return nil // an error comes again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// field takes a line that is not blank.
func (r *Reader) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		r.dataLine(value)
	case "event":
		r.event = string(value)
	case "", "id", "retry":
	default:
		if n := min(len(line), maxStray-len(r.stray)); n > 0 {
			r.stray = append(append(r.stray, line[:n]...), '\n')
		}
	}
}

// dataLine adds to the event. Some servers separate events by one newline
// only: a line after a complete JSON text begins the next event.
func (r *Reader) dataLine(value []byte) {
	if r.has && (string(r.data) == "[DONE]" || json.Valid(r.data)) {
		r.dispatch()
	}
	if len(r.data)+len(value) > r.limit {
		r.fail(&TooLongError{r.limit})
		return
	}
	if r.has {
		r.data = append(r.data, ' ') // the newline that SSE asks for, where JSON allows it
	}
	r.data, r.has = append(r.data, value...), true
}

// dispatchWhole ends an event that the end of the input has cut, if all of it
// arrived.
func (r *Reader) dispatchWhole() {
	if data := bytes.TrimSpace(r.data); string(data) != "[DONE]" && !json.Valid(data) {
		r.data, r.has = r.data[:0], false
	}
	r.dispatch()
}

// dispatch ends an event.
func (r *Reader) dispatch() {
	data, event := bytes.TrimSpace(r.data), r.event
	r.data, r.event, r.has = r.data[:0], "", false
	if len(data) == 0 || r.ended || r.err != nil {
		return
	}
	r.events++
	if string(data) == "[DONE]" {
		r.ended = true
		r.out = append(r.out, "data: [DONE]\n\n"...)
		return
	}
	if e := ReadError(data, event); e != nil {
		r.emitError(e)
		return
	}
	r.out = append(r.out, "data: "...)
	if bytes.HasPrefix(data, []byte(`{"error":`)) {
		// An error that is null. go-openai looks at no more than these bytes
		// and would take the chunk for a failure.
		r.out, data = append(r.out, "{ "...), data[1:]
	}
	r.out = append(append(r.out, data...), "\n\n"...)
}

func (r *Reader) emitError(e *Error) {
	r.out = append(append(append(r.out, "data: "...), e.frame()...), "\n\n"...)
	r.fail(io.EOF)
}

// foreign looks at a body without events. Some gateways announce a stream and
// then send a JSON error, or a page.
func (r *Reader) foreign() {
	stray := bytes.TrimSpace(r.stray)
	if r.events > 0 || r.err != nil || len(stray) == 0 {
		return
	}
	if e := ReadError(stray, ""); e != nil {
		r.emitError(e)
		return
	}
	r.fail(&ForeignError{ContentType: ContentType, Excerpt: Excerpt(stray)})
}

// Done reports whether [DONE] was seen and nothing went wrong.
func (r *Reader) Done() bool { return r.ended && r.err == nil }
