package transcript

import (
	"bytes"
	"sync"
)

// batch is a chunk on its way through a worker.
type batch struct {
	chunk    chunk
	buf      []byte // that the chunk is in
	lines    []Line
	loan     loan
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

	ring := make([]batch, o.Workers+1)
	for i := range ring {
		ring[i].loan.lent, ring[i].done = o.Lend, make(chan struct{}, 1)
	}
	n := numbering{}
	sent, delivered := 0, 0
	deliver := func() bool {
		b := &ring[delivered%len(ring)]
		delivered++
		<-b.done
		ok := b.deliver(&n, o, yield)
		if cap(b.buf) <= 4*blockSize {
			src.spare = append(src.spare, b.buf)
		}
		return ok
	}
	for src.next() {
		b := &ring[sent%len(ring)]
		b.chunk, b.buf = src.give()
		work <- b
		if sent++; sent-delivered == len(ring) && !deliver() {
			return
		}
	}
	for delivered < sent {
		if !deliver() {
			return
		}
	}
	if src.err != nil {
		yield(Line{}, src.err)
	}
}

func (b *batch) parse(lr *lineReader) {
	defer func() {
		b.panicked = recover()
		b.done <- struct{}{}
	}()
	lr.loan = &b.loan
	for line := range bytes.Lines(b.chunk.b) {
		b.lines = append(b.lines, lr.line(line, b.chunk.skipped))
	}
}

// deliver yields the lines. What they were lent is taken back at the end.
func (b *batch) deliver(n *numbering, o Options, yield func(Line, error) bool) bool {
	if b.panicked != nil {
		panic(b.panicked)
	}
	for i := range b.lines {
		n.number(&b.lines[i])
		if !yield(b.lines[i], nil) {
			return false
		}
	}
	b.loan.takeBack(b.buf, o.Scribble) // what must outlive it was copied out
	clear(b.lines)
	b.lines = b.lines[:0]
	return true
}
