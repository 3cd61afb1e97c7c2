package openai

import (
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/replay/transcript"
)

// block is a content block while it arrives.
type block struct {
	kind      string
	signature string
	joiner    joiner
	redactor  redactor
	text      strings.Builder
	call      *openCall
}

// push adds a piece and returns what of it can be shown.
func (b *block) push(f fragment) string {
	s := b.redactor.push(b.joiner.push(f))
	b.text.WriteString(s)
	return s
}

// end adds what was held back.
func (b *block) end() string {
	s := b.redactor.push(b.joiner.flush()) + b.redactor.flush()
	b.text.WriteString(s)
	return s
}

// assembler makes one message out of chunks. It does no I/O and trusts
// nothing; finish is its judgement.
type assembler struct {
	request *request
	secret  secret
	price   Price
	newID   func() string

	id, model string
	started   bool
	blocks    []*block
	text      int // index of the text block, -1 before it
	thinking  int // of the thinking block
	calls     callTable

	choice       looseInt // the choice that counts
	finishReason string   // as the endpoint said it; "" before
	usage        *reportedUsage
	snapshot     string // the last piece, while each one repeats the one before
	snapshots    int    // how many did; -1 once one did not
	notes        []note
	deltas       []loop.Delta
}

func newAssembler(q *request, s secret, p Price, newID func() string) *assembler {
	a := &assembler{request: q, secret: s, price: p, newID: newID, text: -1, thinking: -1}
	a.calls = callTable{declared: q.tools, secret: s, note: a.note}
	return a
}

// note keeps a diagnostic, the first of its kind.
func (a *assembler) note(kind, text string) {
	for _, n := range a.notes {
		if n.kind == kind {
			return
		}
	}
	a.notes = append(a.notes, note{kind, a.secret.redact(text)})
}

// add takes a chunk and gives the deltas it makes, valid until the next call.
// advanced says that it brought some of the answer.
func (a *assembler) add(c *chunk) (deltas []loop.Delta, advanced bool, err error) {
	a.deltas = a.deltas[:0]
	if a.id == "" {
		a.id = a.secret.redact(string(c.ID))
	}
	if a.model == "" {
		a.model = a.secret.redact(string(c.Model))
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
		if o.Index != a.choice && o.Index.set && a.choice.set {
			a.note(noteChoice, "the endpoint sent more than one choice")
			continue
		}
		a.count(o.Usage)
		if stated(o.Error) {
			return a.deltas, advanced, readError(o.Error, "")
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
		a.deltas[0].Usage = a.usage.usage(a.price)
	}
	return a.deltas, advanced, nil
}

func (a *assembler) count(u *reportedUsage) {
	if u != nil {
		a.usage = u
	}
}

func (a *assembler) finishAs(reason string) {
	switch {
	case reason == "" || reason == a.finishReason:
	case a.finishReason == "":
		a.finishReason = a.secret.redact(reason)
	default:
		a.note(noteFinishRepeated, "finish_reason was "+a.finishReason+" and then "+reason)
	}
}

func (a *assembler) delta(d *delta) {
	if f, field := d.reasoning(); f != "" {
		if a.thinking < 0 {
			a.thinking = a.open(&block{kind: transcript.BlockThinking, signature: field}, loop.ThinkingStart)
		}
		a.grow(a.thinking, loop.ThinkingDelta, f)
	}
	if d.Refusal != "" {
		a.note(noteRefusal, "the endpoint marked text of this answer as a refusal")
	}
	a.watchSnapshots(string(d.Content))
	for _, f := range []fragment{d.Content, d.Refusal} {
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
func (a *assembler) open(b *block, kind loop.DeltaKind) int {
	b.redactor.secret = a.secret
	a.blocks = append(a.blocks, b)
	i := len(a.blocks) - 1
	d := loop.Delta{Kind: kind, Index: i}
	if b.call != nil {
		d.Call = &transcript.Call{ID: a.secret.redact(b.call.id), Name: a.secret.redact(b.call.name)}
	}
	a.deltas = append(a.deltas, d)
	return i
}

func (a *assembler) grow(i int, kind loop.DeltaKind, f fragment) {
	if s := a.blocks[i].push(f); s != "" {
		a.deltas = append(a.deltas, loop.Delta{Kind: kind, Index: i, Text: s})
	}
}

func (a *assembler) call(d callDelta) {
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
func (a *assembler) watchSnapshots(f string) {
	switch {
	case f == "" || a.snapshots < 0:
	case a.text < 0:
		a.snapshot = f
	case len(f) > len(a.snapshot) && strings.HasPrefix(f, a.snapshot):
		a.snapshot = f
		if a.snapshots++; a.snapshots == 2 {
			a.note(noteSnapshots, "pieces of the answer repeat all of the text before them")
		}
	default:
		a.snapshot, a.snapshots = "", -1
	}
}
