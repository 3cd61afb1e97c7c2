// Package answer makes one message out of the frames of a stream, and judges
// whether it is complete.
package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/wire"
	"github.com/turnlog/turnlog/loop/provider/wire/loose"
	"github.com/turnlog/turnlog/replay/transcript"
)

// block is a content block while it arrives.
type block struct {
	kind      string
	signature string
	arriving  wire.Text
	text      strings.Builder
	call      *openCall
}

// Asked is what an answer is judged by: the request it answers.
type Asked struct {
	Model         string
	Tools         map[string]bool // names of the declared tools
	MaxTokens     int64           // bound on the answer as sent, 0 if none
	Secret        wire.Secret     // kept out of everything that is shown
	CallKnown     func(id string) bool
	ResponseKnown func(id string) bool
	NewID         func() string // ids of calls that come without one
	Cost          func(*transcript.Usage) transcript.Cost
}

// Assembler makes one message out of the frames of a stream. It does no I/O
// and trusts nothing; Finish is its judgement.
type Assembler struct {
	asked Asked

	id, model string
	size      int // bytes of what arrived
	started   bool
	blocks    []*block
	text      int // index of the text block, -1 before it
	thinking  int // of the thinking block
	calls     callTable

	choice       loose.Int // the choice that counts
	finishReason string    // as the endpoint said it; "" before
	usage        *reportedUsage
	snapshot     string // the last piece, while each one repeats the one before
	snapshots    int    // how many did; -1 once one did not
	notes        []note
	deltas       []loop.Delta
}

// New returns the assembler of one answer.
func New(q Asked) *Assembler {
	a := &Assembler{asked: q, text: -1, thinking: -1}
	a.calls = callTable{declared: q.Tools, secret: q.Secret, note: a.note}
	return a
}

// note keeps a diagnostic, the first of its kind.
func (a *Assembler) note(kind, text string) {
	if !slices.ContainsFunc(a.notes, func(n note) bool { return n.kind == kind }) {
		a.notes = append(a.notes, note{kind, a.asked.Secret.Redact(text)})
	}
}

// maxSize bounds all that is kept of an answer. Real ones have a few hundred
// KiB; as JSON, a byte takes up to six, and a transcript's line has 64 MiB.
const maxSize = 8 << 20

// errTooLong is an answer beyond maxSize.
var errTooLong = &wire.Fault{Text: fmt.Sprintf("the answer is longer than %d bytes", maxSize)}

// Add implements [wire.Answer]. An error is one that the frame states or is.
func (a *Assembler) Add(e wire.Event) (deltas []loop.Delta, advanced bool, err error) {
	if e.Data[0] != '{' {
		a.note(NoteFrame, wire.Excerpt(e.Data)) // a ping in words: what matters comes as objects
		return nil, false, nil
	}
	c, err := decodeChunk(e.Data)
	if err != nil {
		return nil, false, err
	}
	a.deltas = a.deltas[:0]
	if a.id == "" && a.fits(len(c.ID)) {
		a.id = a.asked.Secret.Redact(string(c.ID))
	}
	if a.model == "" && a.fits(len(c.Model)) {
		a.model = a.asked.Secret.Redact(string(c.Model))
	}
	a.usage = cmp.Or(c.Groq.Usage, c.Usage, a.usage)
	for i := range c.Choices {
		o := &c.Choices[i]
		if !a.started {
			a.started, a.choice = true, o.Index
			a.deltas = append(a.deltas, loop.Delta{Kind: loop.Start})
		}
		if o.Index != a.choice && o.Index.Set && a.choice.Set {
			a.note(NoteChoice, "the endpoint sent more than one choice")
			continue
		}
		a.usage = cmp.Or(o.Usage, a.usage)
		if e := wire.ErrorOf(o.Error); e != nil {
			return a.deltas, advanced, e
		}
		if !a.fits(o.size()) {
			return a.deltas, advanced, errTooLong
		}
		before := len(a.deltas)
		a.delta(&o.Delta)
		a.finishAs(string(o.FinishReason))
		advanced = advanced || len(a.deltas) > before || o.FinishReason != ""
	}
	if a.calls.opened > maxCalls {
		return a.deltas, advanced, errTooManyCalls
	}
	if a.usage != nil && len(a.deltas) > 0 {
		a.deltas[0].Usage = a.usage.usage(a.asked.Cost)
	}
	return a.deltas, advanced, nil
}

// fits counts n more bytes of the answer. One that is too long stays it.
func (a *Assembler) fits(n int) bool {
	a.size += n
	return a.size <= maxSize
}

func (a *Assembler) finishAs(reason string) {
	switch {
	case reason == "" || reason == a.finishReason:
	case a.finishReason == "":
		a.finishReason = a.asked.Secret.Redact(reason)
	default:
		a.note(NoteFinishRepeated, "finish_reason was "+a.finishReason+" and then "+reason)
	}
}

func (a *Assembler) delta(d *delta) {
	if f, field := d.reasoning(); f != "" {
		if a.thinking < 0 {
			a.thinking = a.open(&block{kind: transcript.BlockThinking, signature: field})
		}
		a.grow(a.thinking, f)
	}
	if d.Refusal != "" {
		a.note(NoteRefusal, "the endpoint marked text of this answer as a refusal")
	}
	a.watchSnapshots(string(d.Content))
	for _, f := range []loose.Text{d.Content, d.Refusal} {
		if f == "" {
			continue
		}
		if a.text < 0 {
			a.text = a.open(&block{kind: transcript.BlockText})
		}
		a.grow(a.text, f)
	}
	for _, c := range d.calls() {
		a.call(c)
	}
}

// open begins a block and returns its index.
func (a *Assembler) open(b *block) int {
	b.arriving.Secret = a.asked.Secret
	i := len(a.blocks)
	a.blocks = append(a.blocks, b)
	start, _, _ := loop.BlockKinds(b.kind)
	d := loop.Delta{Kind: start, Index: i}
	if b.call != nil {
		d.Call = &transcript.Call{ID: a.asked.Secret.Redact(b.call.id), Name: a.asked.Secret.Redact(b.call.name)}
	}
	a.deltas = append(a.deltas, d)
	return i
}

// grow adds a piece to a block of text.
func (a *Assembler) grow(i int, piece loose.Text) { a.shown(i, a.blocks[i].arriving.Push(piece)) }

// shown adds text to a block, and to what is seen of it.
func (a *Assembler) shown(i int, text string) {
	if text != "" {
		a.blocks[i].text.WriteString(text)
		_, grown, _ := loop.BlockKinds(a.blocks[i].kind)
		a.deltas = append(a.deltas, loop.Delta{Kind: grown, Index: i, Text: text})
	}
}

func (a *Assembler) call(d callDelta) {
	p := a.calls.add(d)
	if p.opened {
		p.call.block = a.open(&block{kind: transcript.BlockToolCall, call: p.call})
	}
	if p.text != "" {
		a.deltas = append(a.deltas, loop.Delta{Kind: loop.ToolCallDelta, Index: p.call.block, Text: p.text})
	}
}

// watchSnapshots reports an endpoint that sends all of the text with each
// piece. The text is kept as it came: it may be what the model said.
func (a *Assembler) watchSnapshots(f string) {
	switch {
	case f == "" || a.snapshots < 0:
	case a.text < 0:
		a.snapshot = f
	case len(f) > len(a.snapshot) && strings.HasPrefix(f, a.snapshot):
		a.snapshot = f
		if a.snapshots++; a.snapshots == 2 {
			a.note(NoteSnapshots, "pieces of the answer repeat all of the text before them")
		}
	default:
		a.snapshot, a.snapshots = "", -1
	}
}
