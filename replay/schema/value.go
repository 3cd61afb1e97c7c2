package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// form is the JSON type of a value.
type form uint8

const (
	null form = iota
	boolean
	number
	text
	array
	object
)

// value is a JSON value that remembers its bytes and the order of its keys.
type value struct {
	kind    form
	raw     []byte // as read; nil for what was made or has a changed part
	text    string // of a text; the literal of a number; true or false
	items   []*value
	members []member
}

type member struct {
	key   string
	raw   []byte // the key as read, with quotes
	value *value
}

// maxDepth bounds nesting. Each error of a validation carries its whole path,
// so that depth costs its square: 10,000 levels, which encoding/json lets
// through, would take 800 MB.
const maxDepth = 1000

var errTooDeep = fmt.Errorf("nested deeper than %d levels", maxDepth)

// parse reads one JSON text. A repeated key keeps its first place and its last
// value, as in JavaScript; such an object has no raw bytes.
func parse(data []byte) (*value, error) {
	if !json.Valid(data) {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return nil, err
		}
		return nil, errors.New("not a JSON text")
	}
	p := parser{data: data}
	p.space()
	v := p.value(0)
	if p.tooDeep {
		return nil, errTooDeep
	}
	return v, nil
}

// parser walks over data that is known to be valid JSON.
type parser struct {
	data    []byte
	pos     int
	tooDeep bool
}

func (p *parser) space() {
	for p.pos < len(p.data) && strings.IndexByte(" \t\r\n", p.data[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *parser) value(depth int) *value {
	start := p.pos
	v := &value{}
	switch c := p.data[p.pos]; c {
	case '{':
		v.kind = object
		if !p.object(v, depth+1) {
			return v // a key was repeated or something in it was: raw stays nil
		}
	case '[':
		v.kind = array
		if !p.array(v, depth+1) {
			return v
		}
	case '"':
		v.kind = text
		v.text = p.string()
	case 'n':
		p.pos += len("null")
	case 't', 'f':
		v.kind = boolean
		v.text = p.word()
	default:
		v.kind = number
		v.text = p.word()
	}
	v.raw = p.data[start:p.pos]
	return v
}

// word reads a literal up to the next delimiter.
func (p *parser) word() string {
	start := p.pos
	for p.pos < len(p.data) && strings.IndexByte(" \t\r\n,]}", p.data[p.pos]) < 0 {
		p.pos++
	}
	return string(p.data[start:p.pos])
}

func (p *parser) string() string {
	start := p.pos
	p.pos++
	plain := true
	for ; p.data[p.pos] != '"'; p.pos++ {
		switch c := p.data[p.pos]; {
		case c == '\\':
			p.pos++
			plain = false
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	p.pos++
	raw := p.data[start:p.pos]
	if plain {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // raw is part of a valid text
	return s
}

func (p *parser) object(v *value, depth int) (intact bool) {
	intact = true
	p.tooDeep = p.tooDeep || depth > maxDepth
	index := map[string]int{}
	for p.pos++; ; {
		p.space()
		if c := p.data[p.pos]; c == '}' || c == ',' {
			p.pos++
			if c == '}' {
				return intact
			}
			continue
		}
		start := p.pos
		m := member{key: p.string()}
		m.raw = p.data[start:p.pos]
		p.space()
		p.pos++ // the colon
		p.space()
		m.value = p.value(depth)
		intact = intact && m.value.raw != nil
		if i, again := index[m.key]; again {
			v.members[i].value = m.value
			intact = false
			continue
		}
		index[m.key] = len(v.members)
		v.members = append(v.members, m)
	}
}

func (p *parser) array(v *value, depth int) (intact bool) {
	intact = true
	p.tooDeep = p.tooDeep || depth > maxDepth
	for p.pos++; ; {
		p.space()
		if c := p.data[p.pos]; c == ']' || c == ',' {
			p.pos++
			if c == ']' {
				return intact
			}
			continue
		}
		item := p.value(depth)
		intact = intact && item.raw != nil
		v.items = append(v.items, item)
	}
}

// append adds the JSON text of v to b: the bytes that were read where nothing
// changed.
func (v *value) append(b []byte) []byte {
	if v.raw != nil {
		return append(b, v.raw...)
	}
	switch v.kind {
	case null:
		return append(b, "null"...)
	case boolean, number:
		return append(b, v.text...)
	case text:
		return appendString(b, v.text)
	case array:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	default:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, m.raw...), ':')
			b = m.value.append(b)
		}
		return append(b, '}')
	}
}

// appendString writes s as JSON without escaping <, > and &.
func appendString(b []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// any is v as the validator wants it, numbers as json.Number.
func (v *value) any() any {
	switch v.kind {
	case null:
		return nil
	case boolean:
		return v.text == "true"
	case number:
		return json.Number(v.text)
	case text:
		return v.text
	case array:
		items := make([]any, len(v.items))
		for i, item := range v.items {
			items[i] = item.any()
		}
		return items
	default:
		members := make(map[string]any, len(v.members))
		for _, m := range v.members {
			members[m.key] = m.value.any()
		}
		return members
	}
}

// member returns the value of a key; nil if v has none.
func (v *value) member(key string) *value {
	if i := v.index(key); i >= 0 {
		return v.members[i].value
	}
	return nil
}

func (v *value) index(key string) int {
	return slices.IndexFunc(v.members, func(m member) bool { return m.key == key })
}

// child is the member or item that a path element names; nil if there is none.
func (v *value) child(name string) *value {
	if v.kind != array {
		return v.member(name)
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v.items) {
		return v.items[i]
	}
	return nil
}

// size is the number of values in v.
func (v *value) size() int {
	n := 1
	for _, item := range v.items {
		n += item.size()
	}
	for _, m := range v.members {
		n += m.value.size()
	}
	return n
}

// oversized returns the path of the first number that is too large to compute
// with; nil if there is none.
func (v *value) oversized(path []string) []string {
	switch v.kind {
	case number:
		if !bounded(v.text) {
			return append([]string{}, path...)
		}
	case array:
		for i, item := range v.items {
			if bad := item.oversized(append(path, strconv.Itoa(i))); bad != nil {
				return bad
			}
		}
	case object:
		for _, m := range v.members {
			if bad := m.value.oversized(append(path, m.key)); bad != nil {
				return bad
			}
		}
	}
	return nil
}

func (v *value) isObject() bool { return v != nil && v.kind == object }
