package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/turnlog/turnlog/replay/transcript"
)

// AnswerError is an answer that ended in stop reason error or aborted.
type AnswerError struct {
	Reason string // error or aborted
	Text   string // the message's errorMessage
}

func (e *AnswerError) Error() string { return cmp.Or(e.Text, "the answer ended with "+e.Reason) }

// PanicError is a panic of a seam, a model or a tool.
type PanicError struct {
	In    string // whose panic it was
	Value any
	Stack []byte // of the goroutine that panicked
}

func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.In, e.Value) }

// Unwrap returns the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// catch turns a panic into an error; it must be deferred.
func catch(err *error, in string) {
	if p := recover(); p != nil {
		*err = &PanicError{In: in, Value: p, Stack: debug.Stack()}
	}
}

// guard calls a seam.
func guard[T any](in string, f func() (T, error)) (v T, err error) {
	defer catch(&err, in)
	return f()
}

// fail closes a run that an error of a seam or of the model ended: with a
// message that says so, as if the model had failed.
func (r *run) fail(ctx context.Context, failure error) {
	reason := transcript.StopError
	if ctx.Err() != nil {
		reason = transcript.StopAborted
	}
	m := r.failed(reason, failure)
	if !r.turnOpen {
		r.startTurn()
	}
	r.commit(&m, false)
	r.endTurn(Turn{Message: &m}, Default, false)
	r.emit(Event{Type: AgentEnd, Messages: []transcript.Message{m}})
}

// failed is the message of a run that failure ended.
func (r *run) failed(reason string, failure error) transcript.Message {
	model := r.c.ModelRef
	if r.c.failed != nil {
		model = r.c.failed()
	}
	return transcript.Message{
		Role:         transcript.Assistant,
		Content:      []transcript.Block{transcript.TextBlock("")},
		Provider:     model.Provider,
		Model:        model.ID,
		Usage:        new(transcript.Usage),
		StopReason:   reason,
		ErrorMessage: failure.Error(),
	}
}

// ioErr is what Run returns: the first failures of Append and Emit.
func (r *run) ioErr() error { return errors.Join(r.writeErr, r.emitErr) }
