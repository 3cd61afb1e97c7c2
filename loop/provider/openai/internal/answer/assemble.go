// Package answer makes one message out of the frames of a stream, and judges
// whether it is complete.
package answer

import (
	"fmt"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/loose"
	"github.com/turnlog/turnlog/loop/provider/openai/internal/sse"
	"github.com/turnlog/turnlog/replay/transcript"
)

// block is a content block while it arrives.
type block struct {
	kind      string
	signature string
	joiner    loose.Joiner
	redactor  redactor
	text      strings.Builder
	call      *openCall
}

// push adds a piece and returns what of it can be shown.
func (b *block) push(f loose.Text) string {
	s := b.redactor.push(b.joiner.Push(f))
	b.text.WriteString(s)
	return s
}

// end adds what was held back.
func (b *block) end() string {
	s := b.redactor.push(b.joiner.Flush()) + b.redactor.flush()
	b.text.WriteString(s)
	return s
}

// Asked is what an answer is judged by: the request it answers. Functions may
// be nil, which stands for what none of them would say.
type Asked struct {
	Model         string
	Tools         map[string]bool // names of the declared tools
	MaxTokens     int64           // bound on the answer as sent, 0 if none
	Secret        Secret          // kept out of everything that is shown
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
	no := func(string) bool { return false }
	if q.CallKnown == nil {
		q.CallKnown = no
	}
	if q.ResponseKnown == nil {
		q.ResponseKnown = no
	}
	if q.Cost == nil {
		q.Cost = func(*transcript.Usage) transcript.Cost { return transcript.Cost{} }
	}
	a := &Assembler{asked: q, text: -1, thinking: -1}
	a.calls = callTable{declared: q.Tools, secret: q.Secret, note: a.note}
	return a
}

// note keeps a diagnostic, the first of its kind.
func (a *Assembler) note(kind, text string) {
	for _, n := range a.notes {
		if n.kind == kind {
			return
		}
	}
	a.notes = append(a.notes, note{kind, a.asked.Secret.Redact(text)})
}

// maxSize bounds all that is kept of an answer. Real ones have a few hundred
// KiB; as JSON, a byte takes up to six, and a transcript's line has 64 MiB.
const maxSize = 8 << 20

// ErrTooLong is an answer beyond maxSize.
var ErrTooLong = fmt.Errorf("the answer is longer than %d bytes", maxSize)

// Add takes a frame and gives the deltas it makes, valid until the next call.
// Advanced says that it brought some of the answer. After an error, which the
// frame states or is, nothing more of the stream counts.
func (a *Assembler) Add(frame []byte) (deltas []loop.Delta, advanced bool, err error) {
	if len(frame) == 0 || frame[0] != '{' {
		a.note(NoteFrame, sse.Excerpt(frame)) // a ping in words: what matters comes as objects
		return nil, false, nil
	}
	c, err := decodeChunk(frame)
	if err != nil {
		return nil, false, err
	}
	return a.add(&c)
}

func (a *Assembler) add(c *chunk) (deltas []loop.Delta, advanced bool, err error) {
	a.deltas = a.deltas[:0]
	if a.id == "" && a.fits(len(c.ID)) {
		a.id = a.asked.Secret.Redact(string(c.ID))
	}
	if a.model == "" && a.fits(len(c.Model)) {
		a.model = a.asked.Secret.Redact(string(c.Model))
	}
	a.count(c.Usage)
	if c.Groq != nil {
		a.count(c.Groq.Usage)
	}
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
		a.count(o.Usage)
		if e := sse.ErrorOf(o.Error); e != nil {
			return a.deltas, advanced, e
		}
		if !a.fits(o.size()) {
			return a.deltas, advanced, ErrTooLong
		}
		before := len(a.deltas)
		a.delta(&o.Delta)
		a.finishAs(string(o.FinishReason))
		advanced = advanced || len(a.deltas) > before || o.FinishReason != ""
	}
	if a.calls.opened > maxCalls {
		return a.deltas, advanced, ErrTooManyCalls
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

func (a *Assembler) count(u *reportedUsage) {
	if u != nil {
		a.usage = u
	}
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
			a.thinking = a.open(&block{kind: transcript.BlockThinking, signature: field}, loop.ThinkingStart)
		}
		a.grow(a.thinking, loop.ThinkingDelta, f)
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
			a.text = a.open(&block{kind: transcript.BlockText}, loop.TextStart)
		}
		a.grow(a.text, loop.TextDelta, f)
	}
	for _, c := range d.calls() {
		a.call(c)
	}
}

// open begins a block and returns its index.
func (a *Assembler) open(b *block, kind loop.DeltaKind) int {
	b.redactor.secret = a.asked.Secret
	a.blocks = append(a.blocks, b)
	i := len(a.blocks) - 1
	d := loop.Delta{Kind: kind, Index: i}
	if b.call != nil {
		d.Call = &transcript.Call{ID: a.asked.Secret.Redact(b.call.id), Name: a.asked.Secret.Redact(b.call.name)}
	}
	a.deltas = append(a.deltas, d)
	return i
}

func (a *Assembler) grow(i int, kind loop.DeltaKind, f loose.Text) {
	if s := a.blocks[i].push(f); s != "" {
		a.deltas = append(a.deltas, loop.Delta{Kind: kind, Index: i, Text: s})
	}
}

func (a *Assembler) call(d callDelta) {
	p := a.calls.add(d)
	if p.opened {
		p.call.block = a.open(&block{kind: transcript.BlockToolCall, call: p.call}, loop.ToolCallStart)
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
