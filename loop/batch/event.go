package batch

import (
	_ "embed" // for the schema
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/batch/mask"
)

// Event is one line of what a batch shows: an event of the loop, or one of the
// batch's own with its fields in Body.
type Event struct {
	Type string
	Task string    // "" for batch_start and batch_end
	Seq  int64     // from 1 within a task, without gaps; 0 outside
	Time time.Time // of tasks' events
	Run  string    // between agent_start and agent_settled
	Loop *loop.Event
	Body any // encoded as a JSON object: the fields behind those above
}

// Decode reads the fields of an event of the batch's own under their JSON
// names, which are the stable ones. What is not there stays as it is.
func (e *Event) Decode(into any) error {
	data, err := json.Marshal(e.Body)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("read the event %s: %w", e.Type, err)
	}
	return nil
}

// The types of the batch's own events.
const (
	BatchStart   = "batch_start"
	TaskStart    = "task_start"
	AgentSettled = "agent_settled"
	TaskEnd      = "task_end"
	BatchEnd     = "batch_end"
	TaskRetry    = "task_retry"   // another attempt begins, with a transcript of its own
	TaskNote     = "task_note"    // something that a person should know: a server that is absent
	QueueUpdate  = "queue_update" // what waits to be said to the agent
	Response     = "response"     // the answer to a command
)

// Sink takes events. It is called for one event after the other per task, and
// concurrently for different tasks. What it returns ends the task: the reader
// is gone.
type Sink interface {
	Event(*Event) error
}

// Sinks hands every event to each of its sinks, up to the first that fails.
type Sinks []Sink

// Event implements [Sink].
func (s Sinks) Event(e *Event) error {
	for _, sink := range s {
		if err := sink.Event(e); err != nil {
			return err
		}
	}
	return nil
}

//go:embed events.schema.json
var eventsSchema []byte

// EventsSchema is the JSON Schema of one line of events.
func EventsSchema() []byte { return slices.Clone(eventsSchema) }

// stream numbers the events of one task.
type stream struct {
	task string
	sink Sink
	now  func() time.Time

	mu    sync.Mutex
	seq   int64
	run   string
	held  mask.Deltas
	ended bool  // task_end was sent
	err   error // the first failure of the sink; nothing is sent after it
}

// started reports whether anything was shown.
func (s *stream) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq > 0
}

// begin sets the run of the events that follow; "" ends it.
func (s *stream) begin(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = run
}

// own sends an event of the batch.
func (s *stream) own(kind string, body any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(Event{Type: kind, Body: body})
}

// loop sends an event of the loop.
func (s *stream) loop(e loop.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shown := range s.held.Pass(&e) {
		if err := s.send(Event{Type: string(shown.Type), Loop: &shown}); err != nil {
			return err
		}
	}
	return s.err
}

// send sends an event. The caller holds the lock until the event is out: two
// tools of one task may report at the same time, and seq is the order on the
// wire.
func (s *stream) send(e Event) error {
	if s.err != nil || s.ended {
		return s.err
	}
	s.ended = e.Type == TaskEnd
	if s.sink == nil {
		return nil
	}
	s.seq++
	e.Task, e.Seq, e.Time, e.Run = s.task, s.seq, s.now(), s.run
	s.err = s.sink.Event(&e)
	return s.err
}
