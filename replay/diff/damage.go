package diff

import (
	"crypto/sha256"
	"fmt"

	"github.com/turnlog/turnlog/replay/diff/jsondiff"
	"github.com/turnlog/turnlog/replay/transcript"
)

// Damage is a line that could not be read, or not as it stands, or that does
// not hang together with the others.
type Damage struct {
	Line    int    `json:"line"`
	Kind    string `json:"kind"` // torn_line torn_tail glued too_long not_unicode duplicate_key nul_bytes no_parent parent_ring
	Message string `json:"message"`

	sum jsondiff.Digest // of the line's bytes; zero where they say nothing of the damage
}

// damageOf says what is wrong with a line: damage as a whole, and what readers
// take in different ways, so that what is compared may not be what another
// reader sees.
func damageOf(l *transcript.Line) []Damage {
	var found []Damage
	add := func(kind, message string) {
		h := sha256.Sum256(l.Raw)
		found = append(found, Damage{Line: l.No, Kind: kind, Message: message, sum: jsondiff.Digest(h[:16])})
	}
	switch l.Damage {
	case transcript.TornLine:
		add("torn_line", "no record can be read in it")
	case transcript.TornTail:
		add("torn_tail", "the last line is cut off")
	case transcript.Glued:
		add("glued", fmt.Sprintf("several records or parts of them, %d could be read", len(l.Records)))
	case transcript.TooLong:
		add("too_long", "longer than what is read")
	}
	for _, n := range l.Notes {
		switch n.Kind {
		case transcript.NULBytes:
			add("nul_bytes", fmt.Sprintf("%d zero bytes, taken out", n.Count))
		case transcript.InvalidUTF8, transcript.LoneSurrogate:
			add("not_unicode", fmt.Sprintf("text that is not Unicode at column %d, compared as U+FFFD", n.Column))
		case transcript.DuplicateKey:
			add("duplicate_key", fmt.Sprintf("key %q twice, the last one is compared", n.Text))
		}
	}
	return found
}

// without gives the damage of a list that another one does not have.
func without(list, other []Damage) (rest []Damage) {
	type line struct {
		kind string
		sum  jsondiff.Digest
	}
	count := map[line]int{}
	for _, d := range other {
		count[line{d.Kind, d.sum}]++
	}
	for _, d := range list {
		if count[line{d.Kind, d.sum}]--; count[line{d.Kind, d.sum}] < 0 {
			rest = append(rest, d)
		}
	}
	return rest
}
