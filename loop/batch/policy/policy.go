// Package policy fills the loop's seams with what a task file asks for: queued
// messages, changes of the tool set, limits, required output, checks,
// permissions. The loop decides nothing; each policy here decides one thing,
// and they share seams by fixed rules.
package policy

import (
	"context"
	"sync"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Policy is what one concern of a task puts into the loop. Nil fields do
// nothing; the fields are the seams of [loop.Config] of the same name.
type Policy struct {
	Steering, FollowUp func(context.Context) ([]transcript.Message, error)
	FinishTurn         func(context.Context, loop.Turn) (loop.Decision, error)
	PrepareNextTurn    func(context.Context, loop.Turn) (loop.TurnUpdate, error)
	PrepareRequest     func(context.Context, loop.RequestInfo) (loop.RequestUpdate, error)
	BeforeTool         func(context.Context, loop.ToolCallInfo) (loop.Verdict, error)

	// Observe sees every event before it is shown.
	Observe func(loop.Event)
}

// Stop remembers why a task must end. The first reason stands: what follows
// from it (an aborted turn, a missing answer) explains nothing.
type Stop struct {
	mu     sync.Mutex
	status Status
	reason string
}

// Set records a status unless there is one.
func (s *Stop) Set(status Status, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == "" {
		s.status, s.reason = status, reason
	}
}

// Replace sets the status whatever it was.
func (s *Stop) Replace(status Status, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.reason = status, reason
}

// Status is "" until Set was called.
func (s *Stop) Status() (Status, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status, s.reason
}

// Stopped reports whether the task must end.
func (s *Stop) Stopped() bool { status, _ := s.Status(); return status != "" }

// Install puts the policies into c, in order. Where several fill one seam:
//
//   - Steering, FollowUp: the first that has messages;
//   - FinishTurn: all are asked, any End wins, then any Continue;
//   - PrepareNextTurn: messages add up, of the rest the last one set stands;
//   - PrepareRequest: the first that fills it, which are the limits;
//   - BeforeTool: the first Block wins, later ones see changed arguments.
//
// The first error of a seam ends the turn; policies behind it are not asked.
// Seams that no policy fills stay as they are in c.
func Install(c *loop.Config, policies ...Policy) {
	if f := polls(policies, func(p Policy) poll { return p.Steering }); f != nil {
		c.Steering = f
	}
	if f := polls(policies, func(p Policy) poll { return p.FollowUp }); f != nil {
		c.FollowUp = f
	}
	c.FinishTurn = finishTurn(policies)
	c.PrepareNextTurn = prepareNextTurn(policies)
	if f := prepareRequest(policies); f != nil {
		c.PrepareRequest = f
	}
	c.BeforeTool = beforeTool(policies)
	if emit := c.Emit; emit != nil {
		c.Emit = func(e loop.Event) error {
			for _, p := range policies {
				if p.Observe != nil {
					p.Observe(e)
				}
			}
			return emit(e)
		}
	}
}
