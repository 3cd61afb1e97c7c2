// Package render shows the events of a batch: as NDJSON for programs, as text
// for people.
package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/mask"
)

// Options of a renderer. The zero value works.
type Options struct {
	Mask  *mask.Mask // hides secret values; nil hides nothing
	Color bool       // text only
}

type format struct {
	name string
	make func(io.Writer, Options) batch.Sink
}

// formats is the table of renderers.
func formats() []format {
	return []format{
		{"ndjson", func(w io.Writer, o Options) batch.Sink { return &batch.NDJSON{W: w, Mask: o.Mask.Line} }},
		{"text", newText},
	}
}

// Formats lists the names that [New] knows.
func Formats() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// New returns the renderer of a format, or an error that lists the known ones.
// A write that fails is [batch.ErrClosed] to it.
func New(name string, w io.Writer, o Options) (batch.Sink, error) {
	for _, f := range formats() {
		if f.name == name {
			return f.make(w, o), nil
		}
	}
	return nil, fmt.Errorf("unknown format %q (known: %s)", name, strings.Join(Formats(), ", "))
}
