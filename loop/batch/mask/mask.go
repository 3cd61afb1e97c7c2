// Package mask hides secret values in what a run writes: in encoded lines, in
// texts for people, and in answers that stream in pieces.
package mask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/verify/secret"
)

// shortestSecret is the length under which a value is not hidden: masking
// "1" or "true" would make a transcript unreadable and protect nothing.
const shortestSecret = 6

// Mask hides secret values in encoded JSON lines. It is the one place where
// that happens: transcripts, events and results all pass it, and the history
// in memory becomes what was written. Equal values get equal placeholders, so
// that what used to be equal stays comparable. A nil Mask hides nothing.
type Mask struct {
	values   []secretValue
	known    *secret.Finder // nil: no patterns
	patterns []*regexp.Regexp
}

type secretValue struct {
	encoded     []byte // as it stands inside a JSON string
	placeholder []byte
}

// New hides the given values, each under its name, what the patterns match
// inside of strings, and, if tokens says so, what looks like a key of a known
// kind.
func New(values map[string]string, patterns []*regexp.Regexp, tokens bool) *Mask {
	m := &Mask{patterns: patterns}
	if tokens {
		m.known = secret.New()
	}
	for name, value := range values {
		if len(value) < shortestSecret {
			continue
		}
		for _, form := range encodedForms(value) {
			m.values = append(m.values, secretValue{form, []byte("[secret:" + name + "]")})
		}
	}
	// Longest first: a value inside of another one must not tear it apart.
	slices.SortFunc(m.values, func(a, b secretValue) int {
		return cmp.Or(cmp.Compare(len(b.encoded), len(a.encoded)),
			bytes.Compare(a.encoded, b.encoded), bytes.Compare(a.placeholder, b.placeholder))
	})
	return m
}

// encodedForms is a value as JSON strings may hold it: plain, inside of one
// string, and inside of a string inside of a string (arguments as text). Raw
// JSON of models and servers is kept as it came, so the habits of their
// encoders count too.
func encodedForms(value string) [][]byte {
	forms := []string{value}
	level := forms
	for range 2 {
		var next []string
		for _, text := range level {
			next = append(next, insides(text)...)
		}
		forms, level = append(forms, next...), next
	}
	slices.Sort(forms)
	var all [][]byte
	for _, text := range slices.Compact(forms) {
		all = append(all, []byte(text))
	}
	return all
}

// insides are the ways to write a text between the quotes of a JSON string: as
// it is, with Go's escapes for HTML, with PHP's for slashes, in ASCII alone as
// Python does it, and the last two together.
func insides(text string) []string {
	var plain, html bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil || json.NewEncoder(&html).Encode(text) != nil { // a string always encodes
		return nil
	}
	inside := func(b *bytes.Buffer) string { s := b.String(); return s[1 : len(s)-2] } // behind the last quote is a newline
	slashed := strings.ReplaceAll(inside(&plain), "/", `\/`)
	return []string{inside(&plain), inside(&html), slashed, ascii(inside(&plain)), ascii(slashed)}
}

// ascii writes all other characters as \uXXXX.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Line returns line with every secret replaced, or line itself if it has none.
// Only the insides of strings change, so what was JSON stays JSON.
func (m *Mask) Line(line []byte) []byte {
	if m == nil || !m.suspicious(line) {
		return line
	}
	out := make([]byte, 0, len(line))
	var key []byte
	for i := 0; i < len(line); {
		if line[i] != '"' {
			out = append(out, line[i])
			i++
			continue
		}
		end := stringEnd(line, i+1)
		text := line[i+1 : end]
		isKey := end+1 < len(line) && line[end+1] == ':'
		out = append(out, '"')
		if isKey {
			key = text
		}
		out = append(out, m.inside(text, !isKey && opaque(key))...)
		i = end
		if i < len(line) {
			out = append(out, '"')
			i++
		}
	}
	return out
}

// Text masks a text that is no JSON.
func (m *Mask) Text(s string) string {
	var out string
	if json.Unmarshal(m.Line(transcript.AppendString(nil, s)), &out) != nil {
		return ""
	}
	return out
}

// opaque reports whether a key holds bytes that look random and have to stay
// as they are: signatures, images.
func opaque(key []byte) bool {
	return bytes.HasSuffix(key, []byte("Signature")) || string(key) == "data"
}

func (m *Mask) suspicious(line []byte) bool {
	if len(m.values) > 0 && leftOut.Match(line) {
		return true
	}
	for i := range m.values {
		if bytes.Contains(line, m.values[i].encoded) {
			return true
		}
	}
	for _, p := range m.patterns {
		if p.Match(line) {
			return true
		}
	}
	if m.known != nil {
		for range m.known.Find(line) {
			return true
		}
	}
	return false
}

// inside masks the text between two quotes; in opaque text only known values.
func (m *Mask) inside(text []byte, opaque bool) []byte {
	for i := range m.values {
		text = bytes.ReplaceAll(text, m.values[i].encoded, m.values[i].placeholder)
	}
	text = m.atCuts(text)
	if opaque {
		return text
	}
	for i, p := range m.patterns {
		text = p.ReplaceAll(text, fmt.Appendf(nil, "[secret:pattern %d]", i+1))
	}
	if m.known == nil {
		return text
	}
	var found []secret.Match
	for match := range m.known.Find(text) {
		match.To = wholeKey(text, match)
		found = append(found, match)
	}
	slices.SortFunc(found, func(a, b secret.Match) int { return cmp.Compare(a.From, b.From) })
	var out []byte
	end := 0 // of what was copied or replaced: matches may overlap
	for _, match := range found {
		if match.From >= end {
			out = append(append(out, text[end:match.From]...), "[secret:"+match.Kind+"]"...)
		}
		end = max(end, match.To)
	}
	return append(out, text[end:]...)
}

// leftOut is what tools put where an output was too long (loop/tool), inside of
// a JSON string.
var leftOut = regexp.MustCompile(`\\+n\[\.\.\. \d+ bytes left out \.\.\.\]\\+n`)

// atCuts masks values that an output was cut in: their beginning in front of
// the mark, and their end behind it.
func (m *Mask) atCuts(text []byte) []byte {
	if len(m.values) == 0 {
		return text
	}
	for _, at := range slices.Backward(leftOut.FindAllIndex(text, -1)) {
		before, after := text[:at[0]], text[at[1]:]
		head, tail := 0, 0 // bytes to go
		var headMark, tailMark []byte
		for i := range m.values {
			v := &m.values[i]
			if n := overlap(before, v.encoded); n > head {
				head, headMark = n, v.placeholder
			}
			if n := endOf(after, v.encoded); n > tail {
				tail, tailMark = n, v.placeholder
			}
		}
		if head < shortestSecret {
			head, headMark = 0, nil
		}
		if tail < shortestSecret {
			tail, tailMark = 0, nil
		}
		if head+tail > 0 {
			text = slices.Concat(before[:len(before)-head], headMark, text[at[0]:at[1]], tailMark, after[tail:])
		}
	}
	return text
}

// endOf is the length of the longest end of value that text begins with.
func endOf(text, value []byte) int {
	for n := min(len(text), len(value)); n > 0; n-- {
		if bytes.HasPrefix(text, value[len(value)-n:]) {
			return n
		}
	}
	return 0
}

// wholeKey is the end of what has to go. A private key is found by its first
// line, and the others are as secret.
func wholeKey(text []byte, m secret.Match) int {
	if m.Kind != "private key" {
		return m.To
	}
	const head, tail = "-----END ", "PRIVATE KEY-----"
	near := text[m.To:min(m.To+maxHeld, len(text))]
	if at := bytes.Index(near, []byte(head)); at >= 0 {
		end := m.To + at + len(head)
		if at := bytes.Index(text[end:], []byte(tail)); at >= 0 {
			return end + at + len(tail)
		}
	}
	for i, c := range text[m.To:] { // cut off: what still looks like one
		if c > 'z' || bytes.IndexByte([]byte(" \t,.;:-_<>(){}[]\"'`"), c) >= 0 {
			return m.To + i
		}
	}
	return len(text)
}

// stringEnd is the index of the quote that ends the string whose text begins
// at i, or the end of the line.
func stringEnd(line []byte, i int) int {
	for ; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(line)
}
