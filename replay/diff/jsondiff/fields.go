package jsondiff

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/replay/internal/align"
)

// Kind says what became of a value between a and b.
type Kind string

// The kinds of differences.
const (
	Added   Kind = "added"   // only b has it
	Removed Kind = "removed" // only a has it
	Changed Kind = "changed"
)

// KindOf is the kind of a difference by which side has a value.
func KindOf(inA, inB bool) Kind {
	switch {
	case !inA:
		return Added
	case !inB:
		return Removed
	}
	return Changed
}

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
	c := comparison{sums: Digester{arrays: map[*any]Digest{}}}
	c.values(a, b)
	return c.fields
}

// comparison of two values that is under way. It is our own and not go-cmp's:
// how that aligns arrays is not stable from process to process and differs
// between a, b and b, a.
type comparison struct {
	path   []any // names of members and places of items
	sums   Digester
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
	default:
		if Equal(a, b) {
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
		c.below(name, KindOf(inA, inB), x, y)
	}
}

func (c *comparison) items(a, b []any) {
	pairs := c.sums.items(a, b)
	for j, i := range pairs.B {
		if i < 0 {
			c.below(j, Added, nil, b[j])
		}
	}
	for i, j := range pairs.A {
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

// Items aligns two arrays: items that are the same, then those of the same
// kind, name and type, then what is left in order.
func Items(a, b []any) align.Pairing {
	s := Digester{arrays: map[*any]Digest{}}
	return s.items(a, b)
}

func (s *Digester) items(a, b []any) align.Pairing {
	p := align.NewPairing(len(a), len(b))
	same := [2][]Digest{s.each(a, itself), s.each(b, itself)}
	flip := slices.CompareFunc(same[0], same[1], Digest.Compare) > 0
	if flip {
		a, b = b, a
		same[0], same[1] = same[1], same[0]
		p = p.Flipped()
	}
	align.Between(&p, same[0], same[1])
	align.Between(&p, s.each(a, itemName), s.each(b, itemName))
	align.Between(&p, s.each(a, itemKind), s.each(b, itemKind))
	if flip {
		return p.Flipped()
	}
	return p
}

func (s *Digester) each(list []any, of func(any) any) []Digest {
	sums := make([]Digest, len(list))
	for i, v := range list {
		sums[i] = s.Sum(of(v))
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
