package policy

import (
	"slices"
	"sync"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Conversation is what is said to the agent beside the prompts: steering that
// waits for its moment, follow-ups, and what a controlling process adds to
// either queue.
type Conversation struct {
	Steering  *loop.Queue
	FollowUps *loop.Queue

	mu      sync.Mutex
	seen    progress
	waiting []task.Message // whose moment has not come
}

// NewConversation queues what a task says. Steering of the start is due at
// once.
func NewConversation(s task.Steering, followUps []string) *Conversation {
	mode := loop.OneAtATime
	if s.Queue == task.All {
		mode = loop.All
	}
	c := &Conversation{
		Steering:  loop.NewQueue(mode),
		FollowUps: loop.NewQueue(loop.OneAtATime),
		waiting:   slices.Clone(s.Messages),
	}
	c.trigger()
	for _, text := range followUps {
		c.FollowUps.Push(transcript.UserText(text))
	}
	return c
}

// Waiting lists the texts in the queues.
func (c *Conversation) Waiting() (steering, followUps []string) {
	texts := func(q *loop.Queue) []string {
		out := []string{}
		for _, m := range q.Messages() {
			out = append(out, m.Text())
		}
		return out
	}
	return texts(c.Steering), texts(c.FollowUps)
}

// Policy returns the seams.
func (c *Conversation) Policy() Policy {
	return Policy{
		Steering: c.Steering.Poll,
		FollowUp: c.FollowUps.Poll,
		Observe:  c.observe,
	}
}

func (c *Conversation) observe(e loop.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen.observe(e) {
		c.trigger()
	}
}

// trigger queues the messages whose moment has come.
func (c *Conversation) trigger() {
	c.waiting = slices.DeleteFunc(c.waiting, func(m task.Message) bool {
		due := c.seen.reached(m.When)
		if due {
			c.Steering.Push(transcript.UserText(m.Text))
		}
		return due
	})
}

// Restore brings the queues to where an interrupted task left them: the turns
// and tool results that were are counted, the messages that were delivered are
// taken out.
func (c *Conversation) Restore(turns int, results, delivered []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.restore(turns, results)
	c.trigger()
	for _, q := range []*loop.Queue{c.Steering, c.FollowUps} {
		left := q.Messages()
		q.Clear()
		for _, m := range left {
			if i := slices.Index(delivered, m.Text()); i >= 0 {
				delivered = slices.Delete(slices.Clone(delivered), i, i+1)
				continue
			}
			q.Push(m)
		}
	}
}
