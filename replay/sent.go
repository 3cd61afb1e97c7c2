package replay

import (
	"crypto/sha256"

	"github.com/turnlog/turnlog/replay/transcript"
)

// Sent follows what requests carry of the messages of a path, beside its
// [Facts], and recomputes the digests of recorded requests without holding a
// message: a chain of digests and the calls of the last answer. Like Facts it
// is a value.
//
// What a compaction or an edit selects anew has to be seen again: then
// [Sent.Stale] says so, and [Sent.Again] takes the path's entries once more.
type Sent struct {
	epoch    int
	pairing  pairing
	chain    chain
	declared declared
	system   systemSum
	buf      []byte
}

// Apply takes an entry that was just applied to f.
func (s *Sent) Apply(f *Facts, e *transcript.Entry) {
	if s.Stale(f) || e.Type == transcript.TypeSession {
		return
	}
	n := nodeOf(e)
	n.at = f.applied - 1
	if m := f.sel.message(&n); m != nil {
		s.add(m)
	}
}

// Stale reports whether the selection of messages has changed since.
func (s *Sent) Stale(f *Facts) bool { return s.epoch != f.sel.epoch }

// Again takes the entries of the path anew: entry gives the one at a place,
// from 0.
func (s *Sent) Again(f *Facts, entry func(at int) (*transcript.Entry, error)) error {
	s.epoch, s.pairing, s.chain = f.sel.epoch, pairing{}, chain{}
	if f.sel.compacted {
		e, err := entry(f.sel.compaction)
		if err != nil {
			return err
		}
		n := nodeOf(e)
		for _, m := range f.sel.summary(&n) {
			s.add(m)
		}
	}
	for at := f.sel.kept; at < f.applied; at++ {
		e, err := entry(at)
		if err != nil {
			return err
		}
		n := nodeOf(e)
		n.at = at
		if m := f.sel.message(&n); m != nil {
			s.add(m)
		}
	}
	return nil
}

func (s *Sent) add(m *transcript.Message) {
	view, keep, _ := convert(m)
	if !keep || view.Role == transcript.System {
		return
	}
	u := unitOf(&view)
	u.own()
	missing, drop := s.pairing.next(u)
	addMissing(&s.chain, missing)
	if !drop {
		s.buf = appendSent(s.buf[:0], &view)
		s.chain.add(sha256.Sum256(s.buf))
	}
}

// Digest recomputes the digest that a turnlog.request entry should state if it
// stands right after the last entry applied to f, and the number of messages.
// ok is false where that cannot be known: another transport mode than none, or
// what is stale.
func (s *Sent) Digest(f *Facts, r *transcript.Request) (digest string, messages int, ok bool) {
	if !recomputable(r) || s.Stale(f) {
		return "", 0, false
	}
	end := s.chain
	addMissing(&end, s.pairing.unanswered())
	h := head{r.Model, r.Thinking, r.Params, r.MaxTokens}
	return h.digest(s.system.of(f.prompt), s.declared.at(f.tools), end), end.n, true
}

// systemSum remembers the digest of a system text, which changes rarely.
type systemSum struct {
	prompt Prompt
	sum    sum
	done   bool
}

func (s *systemSum) of(p Prompt) sum {
	if !s.done || !s.prompt.same(p) {
		s.prompt, s.sum, s.done = p, sha256.Sum256([]byte(p.Text())), true
	}
	return s.sum
}
