package policy

import "sync"

// Ledger is the money of a batch, shared by its tasks. What requests under way
// could cost is set aside, so that their sum cannot pass the budget.
type Ledger struct {
	mu   sync.Mutex
	left float64
	held float64
}

// NewLedger opens a ledger with a budget in USD.
func NewLedger(usd float64) *Ledger { return &Ledger{left: usd} }

// Left is what nobody has reserved.
func (l *Ledger) Left() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.left-l.held, 0)
}

// reserve sets the worst case of a request aside, if it is there.
func (l *Ledger) reserve(s Spend) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.USD > l.left-l.held {
		return false
	}
	l.held += s.USD
	return true
}

// settle books what a reserved request did cost.
func (l *Ledger) settle(reserved, cost Spend) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = max(l.held-reserved.USD, 0)
	l.left = max(l.left-cost.USD, 0)
}

// Charge books money that was spent before this process ran.
func (l *Ledger) Charge(usd float64) { l.settle(Spend{}, Spend{USD: usd}) }
