package transcript

import (
	"slices"
	"unicode/utf8"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// maxNotes bounds the notes of one kind and line that are told apart by text;
// beyond it they are only counted. A hostile line would fill memory else.
const maxNotes = 64

// note notes something at offset i.
func (p *parser) note(kind NoteKind, i int, text string) {
	p.notes = addNote(p.notes, Note{Kind: kind, Column: p.column(i), Count: 1, Text: text})
}

// oddity notes what the scanner tells of.
func (p *parser) oddity(kind jsonx.Oddity, at int, text string) {
	p.note([...]NoteKind{jsonx.LoneSurrogate: LoneSurrogate, jsonx.RepeatedKey: DuplicateKey, jsonx.UnsafeInteger: UnsafeInteger}[kind], at, text)
}

// addNote merges n into the notes of a line: what is the same is counted.
func addNote(notes []Note, n Note) []Note {
	same := 0
	for i := range notes {
		if notes[i].Kind != n.Kind {
			continue
		}
		same++
		byText := n.Kind == DuplicateKey || n.Kind == FoldedKey || n.Kind == UnsafeInteger
		if !byText || notes[i].Text == n.Text || same == maxNotes {
			notes[i].Count += n.Count
			return notes
		}
	}
	return append(notes, n)
}

// noteBadUTF8 notes bytes that are no UTF-8. A character that is cut off at
// one of the ends, which are sorted, belongs to the damage there and is not noted.
func (p *parser) noteBadUTF8(notes []Note, ends ...int) []Note {
	for i := 0; i < len(p.Data); {
		r, n := utf8.DecodeRune(p.Data[i:])
		if r != utf8.RuneError || n > 1 {
			i += n
			continue
		}
		if isSurrogate(p.Data[i:]) {
			notes = addNote(notes, Note{Kind: LoneSurrogate, Column: p.column(i), Count: 1})
			i += 3
			continue
		}
		if end := cutOff(p.Data, i, ends); end > 0 {
			i = end
			continue
		}
		notes = addNote(notes, Note{Kind: InvalidUTF8, Column: p.column(i), Count: 1})
		i++
	}
	return notes
}

// isSurrogate reports whether b starts with a surrogate half encoded as if it
// were a character (CESU-8).
func isSurrogate(b []byte) bool {
	return len(b) >= 3 && b[0] == 0xED && b[1]&0xE0 == 0xA0 && b[2]&0xC0 == 0x80
}

// cutOff returns the end, of sorted ones, at which the character at i is cut
// off, or 0.
func cutOff(b []byte, i int, ends []int) int {
	k, _ := slices.BinarySearch(ends, i+1)
	if k < len(ends) && ends[k]-i < utf8.UTFMax && !utf8.FullRune(b[i:ends[k]]) {
		return ends[k]
	}
	return 0
}
