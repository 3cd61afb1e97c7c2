package loop

import (
	"fmt"
	"time"

	"github.com/turnlog/turnlog/replay/transcript"
)

// commit makes m part of the history and shows it. started says that the
// message_start was emitted already. The id is that of the entry, if any.
func (r *run) commit(m *transcript.Message, started bool) (id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.keep(m)
	r.show(m, e, started)
	if e != nil {
		id = e.ID
	}
	return id
}

// keep makes m part of the history: it is appended to the transcript, then
// folded. Nothing else grows the history, and only then may it be shown, so a
// crash can lose an event of a fact, never a fact that was shown. The history
// keeps m, so it must not change any more. The entry is nil without a
// transcript, or if the append failed. The caller holds mu.
func (r *run) keep(m *transcript.Message) *transcript.Entry {
	if m.Timestamp == 0 {
		m.Timestamp = r.now().UnixMilli()
	}
	e := r.write(m)
	if r.view != r.history {
		r.view.Append(*m)
	}
	if m.Role == transcript.System {
		r.tools.declared = false
	}
	return e
}

// show emits the events of a message that was kept. The caller holds mu.
func (r *run) show(m *transcript.Message, e *transcript.Entry, started bool) {
	if !started {
		r.emitLocked(Event{Type: MessageStart, Message: m})
	}
	r.emitLocked(Event{Type: MessageEnd, Message: m, Entry: e})
}

// write appends and folds a message; the entry is nil without a transcript, or
// if the append failed. The caller holds mu.
func (r *run) write(m *transcript.Message) *transcript.Entry {
	e := &transcript.Entry{Type: transcript.TypeMessage, Message: m}
	if r.c.Append == nil {
		r.history.Apply(e)
		return nil
	}
	if !r.record(e) {
		return nil
	}
	return e
}

// note appends a custom entry of turnlog's own. Without a transcript there is
// nothing to note; callers check that first, so that data is not even built.
func (r *run) note(customType string, data any) {
	raw, err := transcript.JSON(data)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.stopWriting(fmt.Errorf("encode %s: %w", customType, err))
		return
	}
	r.record(&transcript.Entry{
		Type:   transcript.TypeCustom,
		Custom: &transcript.Custom{CustomType: customType, Data: raw},
	})
}

// record gives e its place in the chain, appends and folds it. After a failed
// append the file no longer has what memory has, so nothing more is written
// and the run ends as if aborted. The caller holds mu.
func (r *run) record(e *transcript.Entry) bool {
	e.ID, e.ParentID = r.ids.next(), r.history.Leaf()
	e.Timestamp = transcript.Timestamp(r.now())
	if r.writeErr == nil {
		if err := r.callAppend(e); err != nil {
			r.stopWriting(fmt.Errorf("append %s to the transcript: %w", e.Type, err))
		}
	}
	r.history.Apply(e)
	return r.writeErr == nil
}

func (r *run) callAppend(e *transcript.Entry) (err error) {
	defer catch(&err, "Append")
	return r.c.Append(e)
}

func (r *run) stopWriting(err error) {
	r.writeErr = err
	if r.abort != nil { // nil before the run has begun
		r.abort(err)
	}
}

// emit shows an event and waits until it was taken.
func (r *run) emit(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.emitLocked(e)
}

// emitLocked is silent once an append failed: what happens then is nowhere but
// in memory. The run's end is shown by lost.
func (r *run) emitLocked(e Event) {
	if r.writeErr == nil {
		r.send(e)
	}
}

func (r *run) send(e Event) {
	if r.c.Emit == nil || r.emitErr != nil {
		return
	}
	r.shown.note(&e)
	if err := r.callEmit(e); err != nil {
		r.emitErr = fmt.Errorf("emit %s: %w", e.Type, err)
		r.abort(r.emitErr)
	}
}

func (r *run) callEmit(e Event) (err error) {
	defer catch(&err, "Emit")
	return r.c.Emit(e)
}

// broken reports whether the run lost its transcript or its reader.
func (r *run) broken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writeErr != nil || r.emitErr != nil
}

func (r *run) now() time.Time {
	if r.c.Now != nil {
		return r.c.Now()
	}
	return time.Now()
}
