package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
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
	p := parser{Scanner: jsonx.New(data)}
	v := p.value(0)
	p.End()
	switch {
	case p.Failed:
		var v any
		return nil, cmp.Or(json.Unmarshal(data, &v), errors.New("not a JSON text"))
	case p.tooDeep:
		return nil, errTooDeep
	}
	return v, nil
}

type parser struct {
	*jsonx.Scanner
	tooDeep bool
}

// value reads the value at the position. One without raw bytes has a repeated
// key in it.
func (p *parser) value(depth int) *value {
	p.tooDeep = p.tooDeep || depth > maxDepth
	v := &value{}
	first := p.Peek()
	start, intact := p.Pos, true
	switch first {
	case '{':
		v.kind = object
		intact = p.object(v, depth+1)
	case '[':
		v.kind = array
		for n := 0; p.Item(n); n++ {
			v.items = append(v.items, p.value(depth+1))
			intact = intact && v.items[n].raw != nil
		}
	case '"':
		v.kind = text
		v.text = p.Str()
	case 'n':
		p.Value()
	case 't', 'f':
		v.kind = boolean
		v.text = string(p.Value())
	default:
		v.kind = number
		v.text = string(p.Value())
	}
	if intact {
		v.raw = p.Data[start:p.Pos]
	}
	return v
}

// object reads members; false if a key was repeated there or further in.
func (p *parser) object(v *value, depth int) (intact bool) {
	intact = true
	index := map[string]int{}
	for o := p.Open(); p.Next(&o); {
		m := member{key: o.Name, raw: p.Data[o.NameAt:o.NameTo], value: p.value(depth)}
		intact = intact && m.value.raw != nil
		if i, again := index[m.key]; again {
			v.members[i].value = m.value
			intact = false
			continue
		}
		index[m.key] = len(v.members)
		v.members = append(v.members, m)
	}
	return intact
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
		return jsonx.AppendString(b, v.text)
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

// all yields v and every value in it, with its path, which is valid until the
// next one.
func (v *value) all(path []string) iter.Seq2[[]string, *value] {
	return func(yield func([]string, *value) bool) { v.walk(path, yield) }
}

func (v *value) walk(path []string, yield func([]string, *value) bool) bool {
	if !yield(path, v) {
		return false
	}
	for i, item := range v.items {
		if !item.walk(append(path, strconv.Itoa(i)), yield) {
			return false
		}
	}
	for _, m := range v.members {
		if !m.value.walk(append(path, m.key), yield) {
			return false
		}
	}
	return true
}

// at is the value at a path; nil if there is none.
func (v *value) at(path []string) *value {
	for _, name := range path {
		if v = v.child(name); v == nil {
			return nil
		}
	}
	return v
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
// with.
func (v *value) oversized() (path []string, found bool) {
	for path, v := range v.all(nil) {
		if v.kind == number && !bounded(v.text) {
			return path, true
		}
	}
	return nil, false
}

func (v *value) isObject() bool { return v != nil && v.kind == object }
