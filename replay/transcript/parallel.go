package transcript

import "sync"

// batch is a chunk on its way through a worker.
type batch struct {
	chunk    chunk
	buf      []byte // that the chunk is in
	lines    []Line
	panicked any
	done     chan struct{}
}

// parallel parses chunks in o.Workers goroutines and yields their lines in
// order. Reading, numbering and yielding stay in the caller's goroutine, so
// that an early stop never waits for a read.
func parallel(src *source, o Options, yield func(Line, error) bool) {
	work := make(chan *batch, o.Workers)
	var workers sync.WaitGroup
	for range o.Workers {
		workers.Go(func() {
			lr := lineReader{max: o.MaxLine}
			for b := range work {
				b.parse(&lr)
			}
		})
	}
	defer workers.Wait()
	defer close(work)

	var pending []*batch
	n := numbering{}
	deliver := func() bool {
		b := pending[0]
		pending = pending[1:]
		<-b.done
		if cap(b.buf) <= 4*blockSize {
			src.spare = append(src.spare, b.buf)
		}
		return b.deliver(&n, yield)
	}
	for src.next() {
		b := &batch{done: make(chan struct{})}
		b.chunk, b.buf = src.give()
		work <- b
		pending = append(pending, b)
		if len(pending) > o.Workers && !deliver() {
			return
		}
	}
	for len(pending) > 0 {
		if !deliver() {
			return
		}
	}
	if src.err != nil {
		yield(Line{}, src.err)
	}
}

func (b *batch) parse(lr *lineReader) {
	defer close(b.done)
	defer func() { b.panicked = recover() }()
	for l := range lr.lines(b.chunk) {
		b.lines = append(b.lines, l)
	}
}

func (b *batch) deliver(n *numbering, yield func(Line, error) bool) bool {
	if b.panicked != nil {
		panic(b.panicked)
	}
	for i := range b.lines {
		n.number(&b.lines[i])
		if !yield(b.lines[i], nil) {
			return false
		}
		b.lines[i] = Line{}
	}
	return true
}
