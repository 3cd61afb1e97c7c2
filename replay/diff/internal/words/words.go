// Package words compares two lines of text word by word.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnlog/turnlog/replay/internal/align"
	"github.com/turnlog/turnlog/replay/text"
)

// Segment is a part of a line that differs from the other line, or not.
type Segment struct {
	Text    string
	Differs bool
}

// mostWords bounds what is compared word by word; longer lines are compared as
// a beginning, a middle that differs and an end.
const mostWords = 1 << 14

// Compare compares two lines word by word.
func Compare(a, b string) (x, y []Segment) {
	p, q := tokens(a), tokens(b)
	same := [2][]bool{make([]bool, len(p)), make([]bool, len(q))}
	match := func(i, j int) { same[0][i], same[1][j] = true, true }
	if len(p)+len(q) <= mostWords {
		align.Keys(p, q, match)
	} else {
		ends(p, q, match)
	}
	x, y = segments(p, same[0]), segments(q, same[1])
	if common := shared(x); 3*common < min(len(a), len(b))-common {
		return []Segment{{Text: a}}, []Segment{{Text: b}} // hardly a word in common: - and + say it all
	}
	return x, y
}

// shared counts the bytes that do not differ.
func shared(line []Segment) int {
	n := 0
	for _, s := range line {
		if !s.Differs {
			n += len(s.Text)
		}
	}
	return n
}

func ends(p, q []string, match func(i, j int)) {
	n := 0
	for n < min(len(p), len(q)) && p[n] == q[n] {
		match(n, n)
		n++
	}
	for i, j := len(p)-1, len(q)-1; i >= n && j >= n && p[i] == q[j]; i, j = i-1, j-1 {
		match(i, j)
	}
}

// tokens splits a line into words, runs of spaces, and other characters.
func tokens(s string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 3
	}
	var list []string
	start, was := 0, 0
	for i, r := range s {
		now := class(r)
		if i > 0 && (now != was || now == 3) {
			list = append(list, s[start:i])
			start = i
		}
		was = now
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}

// segments joins tokens with the same fate. Spaces between two words that
// differ differ with them: so they read as one change.
func segments(tokens []string, same []bool) []Segment {
	var list []Segment
	start := 0 // of the segment: joined at its end, as adding word by word takes hours for a line of millions
	differs := func(i int) bool {
		return !same[i] || i > 0 && i+1 < len(tokens) && !same[i-1] && !same[i+1] && strings.TrimSpace(tokens[i]) == ""
	}
	for i := range tokens {
		if i+1 == len(tokens) || differs(i+1) != differs(i) {
			list = append(list, Segment{strings.Join(tokens[start:i+1], ""), differs(i)})
			start = i + 1
		}
	}
	return list
}

// Shorten makes a line fit into width columns: what differs stays, with some
// of what stands around it.
func Shorten(line []Segment, width int) (shown []Segment, short bool) {
	const around = 24
	total, width := 0, max(width, 2*around)
	for _, s := range line {
		total += utf8.RuneCountInString(s.Text)
	}
	if total <= width {
		return line, false
	}
	room := width
	for i, s := range line {
		switch {
		case s.Differs:
			s.Text = middleCut(s.Text, max(around, width/2))
		case i == 0 && len(line) > 1:
			s.Text = tail(s.Text, around)
		case i == len(line)-1:
			s.Text = text.Fit(s.Text, max(around, min(room, width)))
		default:
			s.Text = middleCut(s.Text, 2*around)
		}
		if n := utf8.RuneCountInString(s.Text); n <= room {
			room -= n
			shown = append(shown, s)
			continue
		}
		s.Text = text.Fit(s.Text, max(room, 1))
		return append(shown, s), true
	}
	return shown, true
}

func tail(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}

func middleCut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n/2]) + "…" + string(r[len(r)-(n-n/2-1):])
}
