package policy

import (
	"context"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// wrapUp is how far the last turn of a task is, the one that asks for the
// answer and has no tools.
type wrapUp struct {
	state wrapState
	why   string // the limit that makes it the last one
}

type wrapState uint8

const (
	wrapNot   wrapState = iota
	wrapDue             // the next turn is the last one
	wrapSaid            // the agent was told
	wrapAsked           // its request is out: no other one follows
)

func (w *wrapUp) asked() {
	if w.state == wrapSaid {
		w.state = wrapAsked
	}
}

// wrapUp makes the next turn the last one, if the task wants one. It reports
// whether there is one to come.
func (l *Limiter) wrapUp(why string) bool {
	if !l.limits.WrapUp || l.wrap.state == wrapAsked {
		return false
	}
	if l.wrap.state == wrapNot {
		l.wrap = wrapUp{wrapDue, why}
	}
	return true
}

// WrapUp returns the seam of the last turn. It goes behind all others: a tool
// that another policy brings at that very moment would be a way around it.
func (l *Limiter) WrapUp() Policy {
	if !l.limits.WrapUp {
		return Policy{}
	}
	return Policy{PrepareNextTurn: l.prepareNextTurn}
}

// prepareNextTurn takes the tools away for the last turn.
func (l *Limiter) prepareNextTurn(context.Context, loop.Turn) (loop.TurnUpdate, error) {
	if l.limits.Turns > 0 && l.turns == l.limits.Turns-1 {
		l.wrapUp("turns")
	}
	if l.wrap.state != wrapDue {
		return loop.TurnUpdate{}, nil
	}
	l.wrap.state = wrapSaid
	const text = "A limit of this task is reached, this is your last turn: no more tools. Give the answer now, with what you have."
	return loop.TurnUpdate{
		Tools:    append([]loop.Tool{}, l.limits.WrapTools...),
		Messages: []transcript.Message{transcript.UserText(text)},
	}, nil
}

// tight names the limit that two more requests may not fit into, "" if they
// do: then the next one has to be the last. The second would have to read the
// answer of the first, and as much again as the last turn added.
func (l *Limiter) tight(input int64) string {
	answer := max(l.longest, 1)
	second := addTokens(addTokens(input, answer), max(input-l.input, 0))
	two := l.cost(input, answer).add(l.cost(second, answer))
	switch left := l.left(); {
	case two.Tokens > left.Tokens:
		return l.tokensName(left)
	case two.Output > left.Output:
		return l.outputName()
	case two.USD > left.USD:
		return l.costName(left)
	}
	return ""
}
