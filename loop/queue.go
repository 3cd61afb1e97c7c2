package loop

import (
	"context"
	"slices"
	"sync"

	"github.com/turnlog/turnlog/replay/transcript"
)

// QueueMode says how much of a queue one poll takes.
type QueueMode string

// The queue modes. The zero value is OneAtATime.
const (
	OneAtATime QueueMode = "one-at-a-time"
	All        QueueMode = "all"
)

// Queue holds messages until the loop polls for them: its [Queue.Poll] is a
// Config's Steering or FollowUp. Messages that a run did not take stay for the
// next one. It may be used by several goroutines; the zero value is an empty
// queue that gives one message at a time.
type Queue struct {
	mu       sync.Mutex
	mode     QueueMode
	messages []transcript.Message
}

// NewQueue returns an empty queue.
func NewQueue(m QueueMode) *Queue { return &Queue{mode: m} }

// Push adds messages at the end.
func (q *Queue) Push(ms ...transcript.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages = append(q.messages, ms...)
}

// Drain takes what one poll gets: the oldest message, or all of them. It
// returns nil if there is none.
func (q *Queue) Drain() []transcript.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.messages)
	if n == 0 {
		return nil
	}
	if q.mode != All {
		n = 1
	}
	taken := q.messages[:n:n]
	q.messages = q.messages[n:]
	return taken
}

// Poll is Drain in the form of a seam.
func (q *Queue) Poll(context.Context) ([]transcript.Message, error) { return q.Drain(), nil }

// Len is the number of messages that wait.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.messages)
}

// Messages returns a copy of what waits, oldest first.
func (q *Queue) Messages() []transcript.Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.messages)
}

// Clear drops what waits.
func (q *Queue) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.messages = nil
}
