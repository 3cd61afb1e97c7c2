package policy

import (
	"math"
	"sync"
)

// Ledger is the budget of a batch, shared by its tasks. What requests under
// way could use is set aside, so that their sum cannot pass the budget.
type Ledger struct {
	mu      sync.Mutex
	left    Spend // output is not bounded by itself
	held    Spend // of left, what requests under way could use
	holders int
	changed chan struct{} // closed at the next settling
}

// NewLedger opens a ledger with USD and tokens; zero is no bound.
func NewLedger(usd float64, tokens int64) *Ledger {
	l := &Ledger{left: Spend{Tokens: math.MaxInt64, Output: math.MaxInt64, USD: math.Inf(1)}, changed: make(chan struct{})}
	if usd > 0 {
		l.left.USD = usd
	}
	if tokens > 0 {
		l.left.Tokens = tokens
	}
	return l
}

// Left is what was not spent yet.
func (l *Ledger) Left() Spend {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// Empty reports whether nothing is left for another task.
func (l *Ledger) Empty() bool {
	left := l.Left()
	return left.USD <= 0 || left.Tokens <= 0
}

// reserve sets the worst case of a request aside. If that only fits when
// others have settled, wait is closed at the next settling; nil means that it
// never will.
func (l *Ledger) reserve(s Spend) (ok bool, wait <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if sum := l.held.add(s); sum.within(l.left) {
		l.held = sum
		l.holders++
		return true, nil
	}
	if l.holders == 0 {
		return false, nil
	}
	return false, l.changed
}

// settle books what a reserved request did cost.
func (l *Ledger) settle(reserved, cost Spend) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held.Tokens -= reserved.Tokens
	l.held.Output -= reserved.Output
	l.held.USD -= reserved.USD
	if l.holders--; l.holders == 0 {
		l.held = Spend{} // sums of floats do not come back to zero
	}
	l.book(cost)
	close(l.changed)
	l.changed = make(chan struct{})
}

// Charge books what was spent before this process ran.
func (l *Ledger) Charge(cost Spend) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.book(cost)
}

func (l *Ledger) book(cost Spend) {
	if l.left.Tokens != math.MaxInt64 {
		l.left.Tokens -= min(cost.Tokens, l.left.Tokens)
	}
	l.left.USD = max(l.left.USD-cost.USD, 0)
}
