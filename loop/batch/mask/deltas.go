package mask

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify/secret"
)

// Deltas keeps a streamed text back as long as it may be the beginning of a
// secret: a value that comes in two pieces is in no line, so that nothing that
// masks lines can see it. Texts are shown in larger pieces for it, and whole.
type Deltas struct {
	Mask *Mask // nil shows everything as it comes

	held []heldText // in the order of their blocks
}

// heldText is the end of a block that was not shown yet.
type heldText struct {
	index int
	kind  loop.DeltaKind
	text  string
}

// Pass returns the events to show instead of e.
func (d *Deltas) Pass(e *loop.Event) []loop.Event {
	switch {
	case d.Mask == nil:
		return []loop.Event{*e}
	case e.Type == loop.ToolExecutionUpdate:
		return []loop.Event{d.partial(e)}
	case e.Type != loop.MessageUpdate || e.Delta == nil:
		shown := d.flush(e, func(*heldText) bool { return e.Type == loop.MessageEnd })
		return append(shown, *e)
	}
	switch e.Delta.Kind {
	case loop.TextDelta, loop.ThinkingDelta, loop.ToolCallDelta:
		return d.piece(e)
	}
	shown := d.flush(e, func(h *heldText) bool { return h.index == e.Delta.Index })
	return append(shown, *e)
}

// piece adds a delta to what is held of its block, and shows what is safe.
func (d *Deltas) piece(e *loop.Event) []loop.Event {
	i, found := slices.BinarySearchFunc(d.held, e.Delta.Index, func(h heldText, index int) int { return cmp.Compare(h.index, index) })
	if !found {
		d.held = slices.Insert(d.held, i, heldText{index: e.Delta.Index})
	}
	h := &d.held[i]
	h.kind = e.Delta.Kind
	text := h.text + e.Delta.Text
	safe := d.Mask.safe([]byte(text))
	h.text = text[safe:]
	if safe == 0 {
		return nil
	}
	return []loop.Event{withDelta(e, h.index, h.kind, text[:safe])}
}

// flush shows what is held of blocks that have ended.
func (d *Deltas) flush(e *loop.Event, ended func(*heldText) bool) (shown []loop.Event) {
	d.held = slices.DeleteFunc(d.held, func(h heldText) bool {
		if !ended(&h) {
			return false
		}
		if h.text != "" {
			shown = append(shown, withDelta(e, h.index, h.kind, h.text))
		}
		return true
	})
	return shown
}

func withDelta(e *loop.Event, index int, kind loop.DeltaKind, text string) loop.Event {
	return loop.Event{Type: loop.MessageUpdate, Message: e.Message, Delta: &loop.Delta{Kind: kind, Index: index, Text: text}}
}

// partial is an update of a tool without the ends of its output that may be
// parts of a secret: the output goes on, and began before what is shown.
func (d *Deltas) partial(e *loop.Event) loop.Event {
	if e.Result == nil {
		return *e
	}
	out, result := *e, *e.Result
	result.Content = slices.Clone(result.Content)
	for i := range result.Content {
		if b := &result.Content[i]; b.Type == transcript.BlockText {
			b.Text = d.Mask.withoutEnds(b.Text)
		}
	}
	out.Result = &result
	return out
}

// maxHeld bounds what is kept back, in bytes: more than a token has, and a key
// of 4096 bits in PEM.
const maxHeld = 8 << 10

// safe is how many bytes of a text that goes on can be shown: no secret begins
// in them and may end behind them. Tokens end at white space, at the latest.
func (m *Mask) safe(text []byte) int {
	cut := len(text)
	if m.known != nil || len(m.patterns) > 0 {
		cut = bytes.LastIndexAny(text, " \t\r\n") + 1
		cut = min(cut, openSince(text, "uthorization", "\n"), openSince(text, "-----BEGIN ", "-----END ", "-----"))
		cut = max(cut, len(text)-maxHeld)
	}
	if m.known != nil {
		// Backwards: a cut that moves may come to lie in an earlier one.
		for _, match := range slices.Backward(slices.Collect(m.known.Find(text))) {
			if from := known(text, match); from < cut && cut < wholeKey(text, match) {
				cut = from
			}
		}
	}
	for i := range m.values {
		cut = min(cut, len(text)-overlap(text, m.values[i].encoded))
	}
	return m.notWithin(text, cut)
}

// known is where begins what a secret is known by: a token says nothing without
// the header in front of it.
func known(text []byte, m secret.Match) int {
	if at := bytes.LastIndex(text[:m.From], []byte("uthorization")); m.Kind == "bearer token" && at >= 0 {
		return at
	}
	return m.From
}

// notWithin moves a cut in front of the values that it would cut.
func (m *Mask) notWithin(text []byte, cut int) int {
	for moved := true; moved; {
		moved = false
		for i := range m.values {
			v := m.values[i].encoded
			from := max(cut-len(v)+1, 0)
			at := bytes.Index(text[from:min(cut+len(v)-1, len(text))], v)
			if at >= 0 && from+at < cut {
				cut, moved = from+at, true
			}
		}
	}
	return cut
}

// openSince is where the last mark stands in text that the ends, one after the
// other, do not follow; or the end of text. A mark may have come in part only.
func openSince(text []byte, mark string, ends ...string) int {
	at := bytes.LastIndex(text, []byte(mark))
	if at < 0 {
		return len(text) - overlap(text, []byte(mark))
	}
	rest := text[at+len(mark):]
	for _, end := range ends {
		i := bytes.Index(rest, []byte(end))
		if i < 0 {
			return at
		}
		rest = rest[i+len(end):]
	}
	return len(text) - overlap(text, []byte(mark))
}

// overlap is the length of the longest end of text that begins value.
func overlap(text, value []byte) int {
	for n := min(len(text), len(value)); n > 0; n-- {
		if bytes.HasSuffix(text, value[:n]) {
			return n
		}
	}
	return 0
}

// withoutEnds is a text without an end that may begin a secret, and without a
// beginning that may end one.
func (m *Mask) withoutEnds(s string) string {
	text := []byte(s)
	text = text[:m.safe(text)]
	for i := range m.values {
		if n := endOf(text, m.values[i].encoded); n >= shortestSecret && n < len(m.values[i].encoded) {
			text = text[n:]
		}
	}
	return strings.ToValidUTF8(string(text), "")
}
