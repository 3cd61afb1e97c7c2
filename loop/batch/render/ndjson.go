package render

import (
	"io"

	"github.com/turnlog/turnlog/loop/batch"
)

func newNDJSON(w io.Writer, o Options) batch.Sink { return &batch.NDJSON{W: w, Mask: o.Mask.Line} }
