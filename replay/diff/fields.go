package diff

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Field is a difference within decoded JSON.
type Field struct {
	Path     string // $.content[1].arguments.path
	A, B     any    // decoded JSON; numbers are json.Number
	InA, InB bool   // whether the side has the field at all: null is a value
}

// Fields compares two values of decoded JSON (numbers as json.Number) and
// lists where they differ. The order of members does not matter, nor how a
// number is written; items of arrays are aligned by what they say.
func Fields(a, b any) []Field {
	r := &reporter{}
	a, b = slotted(a, b)
	cmp.Equal(a, b, cmp.Reporter(r), cmp.Comparer(sameNumber))
	return r.fields
}

func equal(a, b any) bool {
	var s scratch
	return s.sum(a) == s.sum(b)
}

// slot is the place of an item in two arrays; -1 where one does not have it.
type slot struct{ A, B int }

// slotted makes arrays into maps from the slots of their items. cmp could
// align arrays itself, but which of several alignments it takes is not stable
// from process to process and differs between a, b and b, a.
func slotted(a, b any) (any, any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return slottedMembers(x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return slottedItems(x, y)
		}
	}
	return a, b
}

func slottedMembers(a, b map[string]any) (any, any) {
	p, q := make(map[string]any, len(a)), make(map[string]any, len(b)) // cmp tells nil from empty
	maps.Copy(p, a)
	maps.Copy(q, b)
	for name, v := range a {
		if w, ok := b[name]; ok {
			p[name], q[name] = slotted(v, w)
		}
	}
	return p, q
}

func slottedItems(a, b []any) (any, any) {
	p, q := map[slot]any{}, map[slot]any{}
	for _, s := range slots(a, b) {
		switch {
		case s.B < 0:
			p[s] = a[s.A]
		case s.A < 0:
			q[s] = b[s.B]
		default:
			p[s], q[s] = slotted(a[s.A], b[s.B])
		}
	}
	return p, q
}

// slots aligns two arrays: items that are the same, then those of the same
// kind, name and type, then what is left in order.
func slots(a, b []any) []slot {
	p := pairing{a: none(len(a)), b: none(len(b)), movedA: make([]bool, len(a))}
	keysA, keysB := itemKeys(a), itemKeys(b)
	flip := slices.CompareFunc(keysA, keysB, func(x, y item) int { return strings.Compare(string(x.same[:]), string(y.same[:])) }) > 0
	for _, key := range []func(item) digest{
		func(i item) digest { return i.same },
		func(i item) digest { return i.named },
		func(i item) digest { return i.kind },
	} {
		p.items(keysA, keysB, flip, key)
	}
	var list []slot
	for i, j := range p.a {
		list = append(list, slot{i, j})
	}
	for j, i := range p.b {
		if i < 0 {
			list = append(list, slot{-1, j})
		}
	}
	return list
}

// items aligns what has no partner yet, gap by gap.
func (p *pairing) items(a, b []item, flip bool, key func(item) digest) {
	i, j := 0, 0
	for {
		fromA, fromB := i, j
		for i < len(a) && p.a[i] < 0 {
			i++
		}
		for j < len(b) && p.b[j] < 0 {
			j++
		}
		x, y := make([]digest, 0, i-fromA), make([]digest, 0, j-fromB)
		for _, it := range a[fromA:i] {
			x = append(x, key(it))
		}
		for _, it := range b[fromB:j] {
			y = append(y, key(it))
		}
		match := func(k, l int) { p.a[fromA+k], p.b[fromB+l] = fromB+l, fromA+k }
		if flip {
			align(y, x, func(l, k int) { match(k, l) })
		} else {
			align(x, y, match)
		}
		if i >= len(a) && j >= len(b) {
			return
		}
		i++
		j++
	}
}

// item is an item of an array by what aligns it.
type item struct{ same, named, kind digest }

func itemKeys(list []any) []item {
	var s scratch
	keys := make([]item, len(list))
	for i, v := range list {
		kind, name := "value", any(nil)
		switch v := v.(type) {
		case map[string]any:
			kind, name = "object", []any{v["type"], v["name"]}
		case []any:
			kind = "array"
		}
		keys[i] = item{same: s.sum(v), named: s.sum(kind, name), kind: s.sum(kind)}
	}
	return keys
}

// reporter collects what cmp finds.
type reporter struct {
	path   cmp.Path
	fields []Field
}

func (r *reporter) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }
func (r *reporter) PopStep()                { r.path = r.path[:len(r.path)-1] }

func (r *reporter) Report(result cmp.Result) {
	if result.Equal() {
		return
	}
	x, y := r.path.Last().Values()
	f := Field{Path: pathText(r.path), InA: x.IsValid(), InB: y.IsValid()}
	f.A, f.B = plain(x), plain(y)
	r.fields = append(r.fields, f)
}

// plain is a value without slots. A side that is not there and one that is
// null are both nil.
func plain(v reflect.Value) any {
	if !v.IsValid() || (v.Kind() == reflect.Interface || v.Kind() == reflect.Map) && v.IsNil() {
		return nil
	}
	return v.Interface()
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// pathText writes a path as JSONPath; items of arrays by their place in a, or
// in b for those that a does not have.
func pathText(path cmp.Path) string {
	var text strings.Builder
	text.WriteString("$")
	for _, s := range path {
		index, ok := s.(cmp.MapIndex)
		if !ok {
			continue
		}
		switch key := index.Key().Interface().(type) {
		case string:
			text.WriteString(member(key))
		case slot:
			at := key.A
			if at < 0 {
				at = key.B
			}
			text.WriteString("[" + strconv.Itoa(at) + "]")
		}
	}
	return text.String()
}

func member(name string) string {
	if identifier.MatchString(name) {
		return "." + name
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return "." + name // strings always marshal
	}
	return "[" + string(quoted) + "]"
}

func sortedNames(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
