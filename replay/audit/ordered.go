package audit

import (
	"context"
	"iter"
)

// ordered works on several inputs at once and yields the results in the order
// of the inputs. No more than workers results wait to be taken, so that ten
// thousand files need no memory. It ends early when ctx does.
func ordered[In, Out any](ctx context.Context, inputs []In, workers int, work func(context.Context, In) Out) iter.Seq[Out] {
	return func(yield func(Out) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		slots := make(chan chan Out, max(1, workers)-1) // the one that is awaited has left it
		go func() {
			defer close(slots)
			for _, in := range inputs {
				slot := make(chan Out, 1)
				select {
				case slots <- slot:
				case <-ctx.Done():
					return
				}
				go func() { slot <- work(ctx, in) }()
			}
		}()
		for slot := range slots {
			if out := <-slot; ctx.Err() != nil || !yield(out) {
				return
			}
		}
	}
}
