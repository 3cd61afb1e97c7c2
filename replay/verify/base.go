package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify/secret"
)

// Difference is how a line differs from that of an earlier copy of the file.
type Difference struct {
	Severity Severity
	Message  string
}

// base compares a file with an earlier copy, which must be the beginning of
// it, while both are read.
type base struct {
	next    func() (transcript.Line, error, bool)
	stop    func()
	done    bool // nothing is left to compare, or the first difference was found
	recoded int  // lines that say the same in other bytes
	err     error
}

func newBase(src *Source, o Options) *base {
	if src == nil {
		return nil
	}
	b := new(base)
	b.next, b.stop = iter.Pull2(transcript.Lines(src.Reader, transcript.Options{MaxLine: o.MaxLine}))
	return b
}

// line compares the next line. It returns nil if they are equal or nothing is
// to be compared.
func (b *base) line(l *transcript.Line) *Difference {
	if b == nil || b.done {
		return nil
	}
	old, err, ok := b.next()
	if err != nil {
		b.err, b.done = fmt.Errorf("read the base: %w", err), true
		return nil
	}
	switch {
	case !ok:
		b.done = true
		return nil
	case bytes.Equal(old.Raw, l.Raw), !bytes.HasSuffix(old.Raw, []byte("\n")) && bytes.HasPrefix(l.Raw, old.Raw):
		return nil
	case migrated(&old, l):
		b.done = true
		return &Difference{Note, "the file was migrated to another version of the format: it was not compared with the base"}
	case sameRecords(&old, l):
		b.recoded++
		if b.recoded > 1 {
			return nil
		}
		return &Difference{Note, "the line says the same as the base in other bytes"}
	case redactedOnly(old.Raw, l.Raw):
		return &Difference{Note, "a secret of the base was redacted"}
	}
	b.done = true
	return &Difference{Error, "the line differs from the base: history was rewritten"}
}

// rest says whether the base goes on where the file ends.
func (b *base) rest(lines int) string {
	if b == nil || b.done {
		return ""
	}
	if old, err, ok := b.next(); ok && err == nil && !old.Blank() {
		return "the base goes on after line " + itoa(lines) + ", the file ends there"
	}
	return ""
}

func (b *base) close() error {
	if b == nil {
		return nil
	}
	b.stop()
	return b.err
}

// migrated reports whether two headers have different versions.
func migrated(old, now *transcript.Line) bool {
	if len(old.Records) != 1 || len(now.Records) != 1 {
		return false
	}
	a, b := old.Records[0].Header, now.Records[0].Header
	return a != nil && b != nil && a.ID == b.ID && a.Version != b.Version
}

// sameRecords reports whether two lines hold the same values: another order of
// keys and other escapes do not count.
func sameRecords(old, now *transcript.Line) bool {
	if len(old.Records) == 0 || len(old.Records) != len(now.Records) {
		return false
	}
	for i := range old.Records {
		if !SameJSON(json.RawMessage(old.Records[i].Raw), json.RawMessage(now.Records[i].Raw)) {
			return false
		}
	}
	return true
}

// redactedOnly reports whether all that a line lost is a credential.
func redactedOnly(old, now []byte) bool {
	start := 0
	for start < len(old) && start < len(now) && old[start] == now[start] {
		start++
	}
	end := 0
	for end < len(old)-start && end < len(now)-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	put := strings.ToLower(string(now[start : len(now)-end]))
	if !strings.Contains(put, "redacted") && !strings.Contains(put, "***") && !strings.Contains(put, "masked") {
		return false
	}
	for m := range secret.New().Find(old) {
		if start >= m.From-1 && len(old)-end <= m.To+1 {
			return true
		}
	}
	return false
}
