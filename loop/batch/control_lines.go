package batch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// maxCommand is the longest line that is read.
	maxCommand = 1 << 20

	// maxMistakes is how many lines in a row may be no command. An input that
	// never says one (yes, a file that was not meant) must not fill the events
	// with refusals for as long as the run lasts.
	maxMistakes = 100

	// maxOverread is how much of one line is read over. An input without line
	// ends (/dev/zero) would keep a processor busy.
	maxOverread = 64 << 20
)

// Read obeys commands until r ends or ctx does. The end of the input ends
// nothing else. It returns the error of r, or of the sink.
func (c *Control) Read(ctx context.Context, r io.Reader) error {
	select {
	case <-c.opened:
	case <-ctx.Done():
		return nil
	}
	mistakes := 0
	in := commandLines{r: bufio.NewReaderSize(r, maxCommand)}
	for ctx.Err() == nil {
		line, err := in.next()
		if len(bytes.TrimSpace(line)) > 0 || errors.Is(err, errLongLine) {
			ok, err := c.line(in.number, line, err)
			if err != nil {
				return err
			}
			if mistakes++; ok {
				mistakes = 0
			}
		}
		switch {
		case errors.Is(err, errEndless):
			return c.answer(&command{Type: "parse"}, fmt.Errorf("line %d is %w: no more is read", in.number, err))
		case mistakes == maxMistakes:
			return c.answer(&command{Type: "parse"}, fmt.Errorf("%d lines in a row are no commands: no more are read", mistakes))
		case err == nil, errors.Is(err, errLongLine):
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		default:
			return fmt.Errorf("read commands: %w", err)
		}
	}
	return nil
}

// Listen reads commands until stop is called. The input may never end, and
// nothing waits for it: input gives what can be read for as long as a context
// lasts. failed hears what kept commands from being read.
func (c *Control) Listen(ctx context.Context, input func(context.Context) io.Reader, failed func(error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		if err := c.Read(ctx, input(ctx)); err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
			failed(err)
		}
	})
	return func() {
		cancel()
		reading.Wait()
	}
}

// line obeys one line; what is wrong with it is answered with its place.
func (c *Control) line(number int, line []byte, failed error) (ok bool, err error) {
	cmd := &command{}
	if !errors.Is(failed, errLongLine) {
		failed = json.Unmarshal(line, cmd)
	}
	if failed == nil {
		return c.obey(cmd)
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	place := fmt.Sprintf("line %d", number)
	switch {
	case errors.As(failed, &syntax):
		place += fmt.Sprintf(", column %d", syntax.Offset)
	case errors.As(failed, &kind) && kind.Field == "":
		failed = fmt.Errorf("want a JSON object, not %s", kind.Value)
	case errors.As(failed, &kind):
		failed = fmt.Errorf("%s: want a %s, not %s", kind.Field, kind.Type, kind.Value)
	}
	return false, c.answer(&command{ID: cmd.ID, Type: "parse"}, fmt.Errorf("%s: %w", place, failed))
}

var (
	errLongLine = fmt.Errorf("longer than %d bytes", maxCommand)
	errEndless  = fmt.Errorf("longer than %d bytes", maxOverread)
)

// commandLines reads lines of bounded length; longer ones are read over.
type commandLines struct {
	r      *bufio.Reader // of maxCommand bytes: what it cannot hold is too long
	number int           // of the line, from 1
}

// next returns a line, with the error that ended it, errLongLine or errEndless.
// It is good until the next one.
func (l *commandLines) next() ([]byte, error) {
	l.number++
	line, err := l.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	for size := len(line); errors.Is(err, bufio.ErrBufferFull); size += len(line) {
		if size > maxOverread {
			return nil, errEndless
		}
		line, err = l.r.ReadSlice('\n')
	}
	return nil, cmp.Or(err, errLongLine)
}
