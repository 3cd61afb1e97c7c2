package cmd

import (
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/report"
)

// progress is one line on a terminal that is rewritten as files are done. The
// nil value shows nothing.
type progress struct {
	w     io.Writer
	files int
	shown bool
}

// newProgress shows progress where somebody sees it and it does not get
// between the lines of a report: on a terminal that is not stdout's, too.
func newProgress(s Streams, mode string, files int) *progress {
	if mode == "never" || mode == "auto" && (!s.ErrTTY || s.OutTTY) {
		return nil
	}
	return &progress{w: s.Err, files: files}
}

// everyFiles is how often the line changes; more is a blur, and costs more
// than small files do.
const everyFiles = 50

func (p *progress) step(t report.Totals) {
	if p == nil || t.Files%everyFiles != 0 && t.Files != p.files {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[Kverify: %d of %d files, %d errors, %d warnings", t.Files, p.files, t.Errors, t.Warnings)
}

// clear takes the line away.
func (p *progress) clear() {
	if p == nil || !p.shown {
		return
	}
	p.shown = false
	fmt.Fprint(p.w, "\r\x1b[K")
}
