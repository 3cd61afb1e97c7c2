// Package render shows the events of a batch: as NDJSON for programs, as text
// for people.
package render

import (
	"io"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/mask"
	"github.com/turnlog/turnlog/replay/choice"
)

// Options of a renderer. The zero value works.
type Options struct {
	Mask  *mask.Mask // hides secret values; nil hides nothing
	Color bool       // text only
}

// formats is the table of renderers.
func formats() choice.Table[func(io.Writer, Options) batch.Sink] {
	return choice.Table[func(io.Writer, Options) batch.Sink]{
		{Name: "ndjson", Value: func(w io.Writer, o Options) batch.Sink { return &batch.NDJSON{W: w, Mask: o.Mask.Line} }},
		{Name: "text", Value: newText},
	}
}

// Formats lists the names that [New] knows.
func Formats() []string { return formats().Names() }

// New returns the renderer of a format, or an error that lists the known ones.
// A write that fails is [batch.ErrClosed] to it.
func New(name string, w io.Writer, o Options) (batch.Sink, error) {
	renderer, err := formats().Find("format", name)
	if err != nil {
		return nil, err
	}
	return renderer(w, o), nil
}
