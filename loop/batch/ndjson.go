package batch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// ErrClosed is the failure of a [Sink] that takes no more: its reader is gone,
// or the disk is full.
var ErrClosed = errors.New("the events cannot be written any more")

// NDJSON writes events as lines of JSON, each with one write that returns when
// the reader has taken it: a slow reader slows the run, a closed one ends it.
type NDJSON struct {
	W    io.Writer
	Mask func([]byte) []byte // hides secret values in an encoded line; nil hides nothing

	mu  sync.Mutex
	buf []byte
	err error
}

// Event implements [Sink].
func (n *NDJSON) Event(e *Event) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.err != nil {
		return n.err
	}
	line, err := appendEvent(n.buf[:0], e)
	if err != nil {
		return fmt.Errorf("encode the event %s: %w", e.Type, err)
	}
	n.buf = line
	if n.Mask != nil {
		line = n.Mask(line)
	}
	if _, err := n.W.Write(append(line, '\n')); err != nil {
		n.err = fmt.Errorf("%w: %w", ErrClosed, err)
	}
	return n.err
}

// appendEvent puts the task's keys right behind the type, then the rest.
func appendEvent(dst []byte, e *Event) ([]byte, error) {
	dst = append(dst, `{"type":`...)
	dst = transcript.AppendString(dst, e.Type)
	if e.Task != "" {
		dst = append(dst, `,"task":`...)
		dst = transcript.AppendString(dst, e.Task)
		dst = append(dst, `,"seq":`...)
		dst = strconv.AppendInt(dst, e.Seq, 10)
		dst = append(dst, `,"time":"`...)
		dst = append(dst, transcript.Timestamp(e.Time)...)
		dst = append(dst, '"')
	}
	if e.Run != "" {
		dst = append(dst, `,"run":`...)
		dst = transcript.AppendString(dst, e.Run)
	}
	fields, err := eventFields(e)
	if err != nil {
		return dst, err
	}
	if len(fields) > 0 {
		dst = append(append(dst, ','), fields...)
	}
	return append(dst, '}'), nil
}

// eventFields is the inside of the event's own JSON object, without its type.
func eventFields(e *Event) ([]byte, error) {
	if e.Loop != nil {
		members := loop.AppendMembers(nil, e.Loop)
		kind := transcript.AppendString([]byte(`"type":`), e.Type)
		return bytes.TrimPrefix(bytes.TrimPrefix(members, kind), []byte(",")), nil
	}
	if e.Body == nil {
		return nil, nil
	}
	object, err := transcript.JSON(e.Body)
	if err != nil {
		return nil, err
	}
	return object[1 : len(object)-1], nil
}
