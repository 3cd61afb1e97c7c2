package verify

import (
	"bytes"
	"strconv"

	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
)

// sealer recomputes the seals of a file while it is read.
type sealer struct {
	records bool // the file records requests, so the fold is needed
}

func newSealer(format foreign.Format, head []byte, _ Options) *sealer {
	return &sealer{records: format.Seals && bytes.Contains(head, []byte(`"turnlog.request"`))}
}

func (s *sealer) line(*transcript.Line) {}

func (s *sealer) result() Seal { return SealNone }

func (s *sealer) digest() string { return "" }

func itoa(n int) string { return strconv.Itoa(n) }
