package task

import "time"

// Budget bounds a batch; 0 is no bound.
type Budget struct {
	CostUSD float64
	Tokens  int64
	Wall    time.Duration
}

// batchTable is read once per file: a batch is no matter of one task.
func batchTable() object[Batch] {
	return object[Batch]{
		name: "batch",
		keys: []key[Batch]{
			to("concurrency", integer(1, 1024), func(b *Batch) *int { return &b.Concurrency }, "Tasks at once."),
			to("retries", integer(0, 100), func(b *Batch) *int { return &b.Retries }, "Retries of a whole task after a provider failure, as long as it wrote nothing."),
			to("budget", budgetTable().value(Budget{}), func(b *Batch) *Budget { return &b.Budget }, "Bounds over all tasks; what is not started then is skipped."),
		},
	}
}

func budgetTable() object[Budget] {
	return object[Budget]{
		name: "budget",
		keys: []key[Budget]{
			to("cost_usd", positive(), func(b *Budget) *float64 { return &b.CostUSD }, "USD."),
			to("tokens", count(), func(b *Budget) *int64 { return &b.Tokens }, "Tokens of requests and answers."),
			to("wall", duration(), func(b *Budget) *time.Duration { return &b.Wall }, "Time from start to end."),
		},
	}
}
