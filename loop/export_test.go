package loop

import "github.com/turnlog/turnlog/replay/transcript"

// Watch lets a test stand around every look of a at one of its queues.
func (a *Agent) Watch(f func(queue string, drain func() []transcript.Message) []transcript.Message) {
	a.watch = f
}
