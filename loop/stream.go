package loop

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Stream is a run that is under way. Its events wait in an unbounded queue, so
// neither a slow reader nor one that never comes holds up the run: those who
// watch range over [Stream.Events], those who want the end call
// [Stream.Result], and both may do so. Cancelling the context that it was
// started with aborts the run.
type Stream struct {
	mu     sync.Mutex
	queue  []Event
	over   bool
	signal chan struct{} // closed and replaced when there is news

	done    chan struct{}
	outcome Outcome
	err     error
}

// StreamRun begins a run like [Run] and returns at once. An Emit of c is called
// first and keeps its power to stop the run.
func StreamRun(ctx context.Context, c Config, s *replay.State, prompts ...transcript.Message) *Stream {
	return stream(c, func(c Config) (Outcome, error) { return Run(ctx, c, s, prompts...) })
}

// StreamResume begins a run like [Resume] and returns at once.
func StreamResume(ctx context.Context, c Config, s *replay.State) *Stream {
	return stream(c, func(c Config) (Outcome, error) { return Resume(ctx, c, s) })
}

func stream(c Config, run func(Config) (Outcome, error)) *Stream {
	st := &Stream{signal: make(chan struct{}), done: make(chan struct{})}
	emit := c.Emit
	c.Emit = func(e Event) error {
		if emit != nil {
			if err := emit(e); err != nil {
				return err
			}
		}
		st.push(e.Clone())
		return nil
	}
	go func() {
		defer st.finish()
		st.outcome, st.err = run(c)
	}()
	return st
}

// Events yields the events in order as they come and ends with the run. Each
// event is yielded once: a second loop goes on where the first one stopped.
func (st *Stream) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		for {
			e, ok := st.pop()
			if !ok || !yield(e) {
				return
			}
		}
	}
}

// Result waits for the end of the run and returns what [Run] did.
func (st *Stream) Result() (Outcome, error) {
	<-st.done
	return st.outcome, st.err
}

func (st *Stream) push(e Event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.queue = append(st.queue, e)
	st.news()
}

func (st *Stream) finish() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.over = true
	st.news()
	close(st.done)
}

func (st *Stream) news() {
	close(st.signal)
	st.signal = make(chan struct{})
}

// pop waits for the next event; ok is false when there will be none.
func (st *Stream) pop() (e Event, ok bool) {
	for {
		st.mu.Lock()
		if len(st.queue) > 0 {
			e, st.queue[0] = st.queue[0], Event{}
			st.queue = st.queue[1:]
			st.mu.Unlock()
			return e, true
		}
		over, signal := st.over, st.signal
		st.mu.Unlock()
		if over {
			return Event{}, false
		}
		<-signal
	}
}

// Clone returns an event that stays valid after the call that it was made for:
// the message and the delta of a streaming answer go on changing otherwise.
func (e Event) Clone() Event {
	if e.Delta != nil {
		d := *e.Delta
		e.Delta = &d
	}
	if e.Message != nil && (e.Type == MessageUpdate || e.Type == MessageStart) {
		m := *e.Message
		m.Content = slices.Clone(m.Content)
		e.Message = &m
	}
	return e
}
