package diff

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Field is a difference within decoded JSON.
type Field struct {
	Path string `json:"path"`             // $.content[1].arguments.path
	Kind Kind   `json:"kind"`             // added, removed or changed: null is a value
	A    any    `json:"valueA,omitempty"` // decoded JSON; numbers are json.Number
	B    any    `json:"valueB,omitempty"`
}

// Fields compares two values of decoded JSON (numbers as json.Number) and
// lists where they differ. The order of members does not matter, nor how a
// number is written; items of arrays are aligned by what they say.
func Fields(a, b any) []Field {
	c := comparison{sums: scratch{arrays: map[*any]digest{}}}
	c.values(a, b)
	return c.fields
}

// comparison of two values that is under way. It is our own and not go-cmp's:
// how that aligns arrays is not stable from process to process and differs
// between a, b and b, a.
type comparison struct {
	path   []any // names of members and places of items
	sums   scratch
	fields []Field
}

func (c *comparison) values(a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			c.members(x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			c.items(x, y)
			return
		}
	case json.Number:
		if y, ok := b.(json.Number); ok && sameNumber(x, y) {
			return
		}
	default:
		if a == b {
			return
		}
	}
	c.fields = append(c.fields, Field{pathText(c.path), Changed, a, b})
}

func (c *comparison) members(a, b map[string]any) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		x, inA := a[name]
		y, inB := b[name]
		c.below(name, kindFor(inA, inB), x, y)
	}
}

func (c *comparison) items(a, b []any) {
	pairs := c.sums.pairItems(a, b)
	for j, i := range pairs.b {
		if i < 0 {
			c.below(j, Added, nil, b[j])
		}
	}
	for i, j := range pairs.a {
		if j < 0 {
			c.below(i, Removed, a[i], nil)
		} else {
			c.below(i, Changed, a[i], b[j])
		}
	}
}

// below compares a member or an item; kind is changed if both sides have it.
func (c *comparison) below(step any, kind Kind, a, b any) {
	c.path = append(c.path, step)
	if kind == Changed {
		c.values(a, b)
	} else {
		c.fields = append(c.fields, Field{pathText(c.path), kind, a, b})
	}
	c.path = c.path[:len(c.path)-1]
}

// pairItems aligns two arrays: items that are the same, then those of the same
// kind, name and type, then what is left in order.
func (s *scratch) pairItems(a, b []any) pairing {
	p := newPairing(len(a), len(b))
	same := [2][]digest{s.each(a, itself), s.each(b, itself)}
	flip := slices.CompareFunc(same[0], same[1], digest.compare) > 0
	if flip {
		a, b = b, a
		same[0], same[1] = same[1], same[0]
		p = p.flipped()
	}
	between(&p, same[0], same[1])
	between(&p, s.each(a, itemName), s.each(b, itemName))
	between(&p, s.each(a, itemKind), s.each(b, itemKind))
	if flip {
		return p.flipped()
	}
	return p
}

func (s *scratch) each(list []any, of func(any) any) []digest {
	sums := make([]digest, len(list))
	for i, v := range list {
		sums[i] = s.sum(of(v))
	}
	return sums
}

func itself(v any) any { return v }

func itemKind(v any) any {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return "value"
}

func itemName(v any) any {
	if m, ok := v.(map[string]any); ok {
		return []any{m["type"], m["name"]}
	}
	return itemKind(v)
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// pathText writes a path as JSONPath; items of arrays by their place in a, or
// in b for those that a does not have.
func pathText(path []any) string {
	var text strings.Builder
	text.WriteString("$")
	for _, step := range path {
		switch step := step.(type) {
		case int:
			text.WriteString("[" + strconv.Itoa(step) + "]")
		case string:
			if identifier.MatchString(step) {
				text.WriteString("." + step)
			} else {
				quoted, _ := json.Marshal(step) // strings always marshal
				text.WriteString("[" + string(quoted) + "]")
			}
		}
	}
	return text.String()
}
