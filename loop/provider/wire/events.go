package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
)

const (
	eventStream = "text/event-stream" // the content type

	bom = "\xef\xbb\xbf"
	// maxLine bounds an event. One data line of 5 MiB has been seen in the
	// wild (images, whole files as arguments); the limit is there for streams
	// that never end a line.
	maxLine  = 64 << 20
	maxStray = 4 << 10 // bytes kept of lines that belong to no event

	// endMark is the last event of streams in the manner of OpenAI. Others end
	// without one.
	endMark = "[DONE]"
)

// Event is one server-sent event.
type Event struct {
	Name string // "" if it has none
	Data []byte // on one line, without the space around it; valid until the next event is asked for
}

// events reads server-sent events from endpoints that frame them badly: a
// byte order mark, any line end, one newline between events and a last line
// without one are all right, and an event that the end of the input has cut is
// none. An error in any shape ends the stream as that error, [endMark] as io.EOF.
type events struct {
	lines *bufio.Scanner
	limit int
	begun bool // a line was read

	name   string
	data   []byte // of the event under way
	has    bool   // data has a line
	given  []byte // data of the last event, to be used again
	some   bool   // there was an event
	marked bool   // the end mark was seen
	stray  []byte // beginning of what belongs to no event
	err    error
}

func newEvents(src io.Reader, limit int) *events {
	r := &events{lines: bufio.NewScanner(src), limit: limit}
	r.lines.Buffer(make([]byte, 4<<10), limit)
	r.lines.Split(lineSplitter(r.lines.Err))
	return r
}

// lineSplitter splits at LF, CRLF and CR, without waiting for what follows a
// CR. The last line need not end, unless the input broke off with an error.
func lineSplitter(broken func() error) bufio.SplitFunc {
	scanned, afterCR := 0, false
	return func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		if afterCR && len(data) > 0 {
			if afterCR = false; data[0] == '\n' {
				advance = 1
			}
		}
		line = data[advance:]
		if i := bytes.IndexAny(line[scanned:], "\r\n"); i >= 0 {
			i += scanned
			scanned, afterCR = 0, line[i] == '\r'
			return advance + i + 1, line[:i], nil
		}
		if scanned = len(line); !atEOF || scanned == 0 || broken() != nil {
			return advance, nil, nil // what was looked at is not looked at again
		}
		scanned = 0
		return len(data), line, nil
	}
}

// Next gives the next event, or what ended the stream.
func (r *events) Next() (Event, error) {
	for r.err == nil {
		step := r.end
		if r.lines.Scan() {
			step = r.line
		}
		if e, ok := step(); ok {
			return e, nil
		}
	}
	return Event{}, r.err
}

// line takes a line, and gives the event that it ends.
func (r *events) line() (Event, bool) {
	line := r.lines.Bytes()
	if !r.begun && len(line) > 0 {
		line, r.begun = bytes.TrimPrefix(line, []byte(bom)), true
	}
	if len(line) == 0 {
		return r.dispatch()
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		return r.dataLine(value)
	case "event":
		r.name = string(value)
	case "", "id", "retry":
	default:
		if n := min(len(line), maxStray-len(r.stray)); n > 0 {
			r.stray = append(append(r.stray, line[:n]...), '\n')
		}
	}
	return Event{}, false
}

// dataLine adds to the event. Some servers separate events by one newline
// only: a line after a complete JSON text begins the next event.
func (r *events) dataLine(value []byte) (e Event, ok bool) {
	if r.has && (string(r.data) == endMark || json.Valid(r.data)) {
		if e, ok = r.dispatch(); r.err != nil {
			return e, ok
		}
	}
	if len(r.data)+len(value) > r.limit {
		r.err = tooLong(r.limit)
		return e, ok
	}
	if r.has {
		r.data = append(r.data, ' ') // the newline that SSE asks for, where JSON allows it
	}
	r.data, r.has = append(r.data, value...), true
	return e, ok
}

// dispatch ends an event.
func (r *events) dispatch() (Event, bool) {
	e := Event{r.name, bytes.TrimSpace(r.data)}
	r.name, r.data, r.given, r.has = "", r.given[:0], r.data, false
	if len(e.Data) == 0 {
		return e, false
	}
	r.some = true
	if string(e.Data) == endMark {
		r.err, r.marked = io.EOF, true
	} else if stated := ReadError(e.Data, e.Name); stated != nil {
		r.err = stated
	}
	return e, r.err == nil
}

// end takes the end of the input. Of an event that it has cut, all may have
// arrived.
func (r *events) end() (e Event, ok bool) {
	err := cmp.Or(r.lines.Err(), io.EOF)
	if errors.Is(err, bufio.ErrTooLong) {
		err = tooLong(r.limit)
	}
	if data := bytes.TrimSpace(r.data); string(data) == endMark || json.Valid(data) {
		e, ok = r.dispatch()
	}
	if err == io.EOF && !r.some {
		err = r.foreign()
	}
	r.err = cmp.Or(r.err, err)
	return e, ok
}

// foreign looks at a body without events. Some gateways announce a stream and
// then send a JSON error, or a page.
func (r *events) foreign() error {
	stray := bytes.TrimSpace(r.stray)
	if len(stray) == 0 {
		return io.EOF
	}
	if e := ReadError(stray, ""); e != nil {
		return e
	}
	return noStream(eventStream, stray)
}
