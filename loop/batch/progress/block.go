package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/turnlog/turnlog/loop/batch"
)

// Block is one block of lines on a terminal: the batch, then the tasks under
// way. It is drawn when something happens and when [Block.Tick] is called, and
// taken away by [Block.Close].
type Block struct {
	W     io.Writer
	Now   func() time.Time // nil is the wall clock
	Width func() int       // columns of the terminal; nil or 0 is 80

	state
	lines  int // on the terminal now
	drawn  time.Time
	closed bool
}

const (
	defaultWidth = 80

	// maxRows keeps the block on a small terminal: drawing over lines that
	// have scrolled away is not possible.
	maxRows = 8

	// between is the least time between two drawings that nothing notable
	// caused. Streams have thousands of deltas.
	between = 100 * time.Millisecond
)

// Event implements [batch.Sink]. It never fails.
func (b *Block) Event(e *batch.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if b.apply(e, now) && !b.closed {
		b.drawAt(now, false)
	}
	return nil
}

// Watch lets the clocks of the block go on until stop is called, which takes the
// block away.
func (b *Block) Watch() (stop func()) {
	quit := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		ticks := time.NewTicker(250 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				b.Tick()
			case <-quit:
				return
			}
		}
	})
	return func() {
		close(quit)
		drawing.Wait()
		b.Close()
	}
}

// Tick draws the block again, so that clocks go on.
func (b *Block) Tick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed && !b.began.IsZero() {
		b.drawAt(b.now(), true)
	}
}

// Close takes the block away for good. What is written to the terminal
// afterwards begins where it was.
func (b *Block) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	if b.lines > 0 {
		_, _ = io.WriteString(b.W, b.erase()) // a terminal that is gone shows nothing
		b.lines = 0
	}
}

func (b *Block) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

// drawAt draws, unless the terminal was drawn on a moment ago; then the next
// event or tick catches up.
func (b *Block) drawAt(now time.Time, tick bool) {
	if since := now.Sub(b.drawn); !tick && b.lines > 0 && since >= 0 && since < between {
		return
	}
	b.drawn = now
	width := 0
	if b.Width != nil {
		width = b.Width()
	}
	if width <= 0 {
		width = defaultWidth
	}
	lines := b.frame(now, width)
	frame := b.erase() + strings.Join(lines, "\n") + "\n"
	b.lines = len(lines)
	_, _ = io.WriteString(b.W, frame) // one write: no half-drawn block, and a terminal that is gone shows nothing
}

// frame is the block's lines, none wider than the terminal: a line that wraps
// would be two to draw over.
func (b *Block) frame(now time.Time, width int) []string {
	lines := []string{fit(b.head(now), width)}
	for i, r := range b.running {
		if i == maxRows {
			lines = append(lines, fit(fmt.Sprintf("  and %d more", len(b.running)-i), width))
			break
		}
		lines = append(lines, fit("  "+r.line(now), width))
	}
	return lines
}

// erase goes to where the block begins and clears what is below.
func (b *Block) erase() string {
	if b.lines == 0 {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\r\x1b[J", b.lines)
}
