package task

import (
	"time"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// Batch is what the file says about the batch it runs in.
type Batch struct {
	Concurrency int    // tasks at once; 0 is not said
	Retries     int    // whole-task retries after a provider failure
	Budget      Budget // of all tasks together
}

// Budget bounds a batch; 0 is no bound.
type Budget struct {
	CostUSD float64
	Tokens  int64
	Wall    time.Duration
}

// batchKeys are read once per file: a batch is no matter of one task.
func batchKeys(k *table.Keys, b *Batch) {
	table.To(k, "concurrency", table.Integer(1, 1024), &b.Concurrency, "Tasks at once.")
	table.To(k, "retries", table.Integer(0, 100), &b.Retries, "Retries of a whole task after a provider failure, as long as it wrote nothing.")
	table.To(k, "budget", table.Mapping("budget", Budget{}, budgetKeys), &b.Budget, "Bounds over all tasks; what is not started then is skipped.")
}

func budgetKeys(k *table.Keys, b *Budget) {
	table.To(k, "cost_usd", table.Positive(), &b.CostUSD, "USD.")
	table.To(k, "tokens", table.Count(), &b.Tokens, "Tokens of requests and answers.")
	table.To(k, "wall", table.Duration(), &b.Wall, "Time from start to end.")
}
