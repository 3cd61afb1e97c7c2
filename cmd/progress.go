package cmd

import (
	"fmt"
	"io"

	"github.com/turnlog/turnlog/replay/report"
)

// The values of --progress.
const (
	progressAuto   = "auto"
	progressAlways = "always"
	progressNever  = "never"
)

func progressModes() []string { return []string{progressAuto, progressAlways, progressNever} }

// fileProgress is one line on a terminal that is rewritten as files are done. The
// nil value shows nothing.
type fileProgress struct {
	w     io.Writer
	files int
	shown bool
}

// newProgress shows progress where somebody sees it and it does not get
// between the lines of a report: on a terminal that is not stdout's, too.
func newProgress(s Streams, mode string, files int) *fileProgress {
	if mode == progressNever || mode == progressAuto && (!s.ErrTTY || s.OutTTY) {
		return nil
	}
	return &fileProgress{w: s.Err, files: files}
}

// everyFiles is how often the line changes; more is a blur, and costs more
// than small files do.
const everyFiles = 50

func (p *fileProgress) step(t report.Totals) {
	if p == nil || t.Files%everyFiles != 0 && t.Files != p.files {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[Kverify: %d of %d files, %d errors, %d warnings", t.Files, p.files, t.Errors, t.Warnings)
}

// clear takes the line away.
func (p *fileProgress) clear() {
	if p == nil || !p.shown {
		return
	}
	p.shown = false
	fmt.Fprint(p.w, "\r\x1b[K")
}
