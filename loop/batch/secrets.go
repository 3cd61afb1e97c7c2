package batch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// shortestSecret is the length under which a value is not hidden: masking
// "1" or "true" would make a transcript unreadable and protect nothing.
const shortestSecret = 6

// Masker hides secret values in encoded JSON lines. It is the one place where
// that happens: transcripts, events and results all pass it. Equal values get
// equal placeholders, so that what used to be equal stays comparable.
type Masker struct {
	values   []secretValue
	patterns []*regexp.Regexp
}

type secretValue struct {
	encoded     []byte // as it stands inside a JSON string
	placeholder []byte
}

// NewMasker hides the given values, each under its name, and what the patterns
// match inside of strings.
func NewMasker(values map[string]string, patterns []*regexp.Regexp) *Masker {
	m := &Masker{patterns: patterns}
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
// string, and inside of a string inside of a string (arguments as text).
func encodedForms(value string) [][]byte {
	forms := [][]byte{[]byte(value)}
	text := value
	for range 2 {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if enc.Encode(text) != nil { // a string always encodes
			break
		}
		quoted := bytes.TrimSpace(b.Bytes())
		text = string(quoted[1 : len(quoted)-1])
		if !slices.ContainsFunc(forms, func(f []byte) bool { return string(f) == text }) {
			forms = append(forms, []byte(text))
		}
	}
	return forms
}

// Mask returns line with every secret replaced, or line itself if it has none.
// Only the insides of strings change, so what was JSON stays JSON.
func (m *Masker) Mask(line []byte) []byte {
	if m == nil || !m.suspicious(line) {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); {
		if line[i] != '"' {
			out = append(out, line[i])
			i++
			continue
		}
		end := stringEnd(line, i+1)
		out = append(out, '"')
		out = append(out, m.inside(line[i+1:end])...)
		i = end
		if i < len(line) {
			out = append(out, '"')
			i++
		}
	}
	return out
}

func (m *Masker) suspicious(line []byte) bool {
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
	return false
}

// inside masks the text between two quotes.
func (m *Masker) inside(text []byte) []byte {
	for i := range m.values {
		text = bytes.ReplaceAll(text, m.values[i].encoded, m.values[i].placeholder)
	}
	for i, p := range m.patterns {
		text = p.ReplaceAll(text, fmt.Appendf(nil, "[secret:pattern %d]", i+1))
	}
	return text
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
