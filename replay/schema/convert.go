package schema

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// converter applies the lossless conversions of one set of arguments. It never
// changes a value: what it returns is the value itself or a new one.
type converter struct {
	changed bool
	work    *work // what is not converted when it is used up is validated as it is
	nested  int   // schemas entered for one and the same value
}

// maxNested ends the circle in which a $ref may lead.
const maxNested = 100

func (c *converter) convert(v *value, s *jsonschema.Schema) *value {
	c.work.left--
	if s == nil || s.Bool != nil || c.work.left < 0 || c.nested > maxNested {
		return v
	}
	c.nested++
	defer func() { c.nested-- }()
	if s.Ref != nil {
		v = c.convert(v, s.Ref)
		if s.DraftVersion < 2019 {
			return v // siblings of $ref have no meaning there
		}
	}
	v = c.member(v, s)
	v = c.scalar(v, s)
	v = c.wrap(v, s)
	v = c.children(v, s)
	for _, part := range s.AllOf {
		v = c.convert(v, part)
	}
	v = c.alternative(v, s.AnyOf)
	v = c.alternative(v, s.OneOf)
	if s.If != nil {
		if c.accepts(s.If, v) {
			v = c.convert(v, s.Then)
		} else {
			v = c.convert(v, s.Else)
		}
	}
	return v
}

// children converts what is inside of v. There the values are others, so the
// circle counter starts anew.
func (c *converter) children(v *value, s *jsonschema.Schema) *value {
	nested := c.nested
	c.nested = 0
	defer func() { c.nested = nested }()
	switch v.kind {
	case object:
		return c.members(v, s)
	case array:
		return c.items(v, s)
	default:
		return v
	}
}

func (c *converter) accepts(s *jsonschema.Schema, v *value) bool {
	return c.work.spend(v, s) && s.Validate(v.any()) == nil
}

// member replaces a value by the const or enum member that reads the same.
func (c *converter) member(v *value, s *jsonschema.Schema) *value {
	var members []any
	switch {
	case s.Const != nil:
		members = []any{*s.Const}
	case s.Enum != nil:
		members = s.Enum.Values
	default:
		return v
	}
	if v.kind == array || v.kind == object {
		return v
	}
	only := jsonschema.Schema{DraftVersion: s.DraftVersion, Const: s.Const, Enum: s.Enum}
	if c.accepts(&only, v) {
		return v
	}
	for _, m := range members {
		if to := scalarOf(m); to != nil && reads(to) == reads(v) {
			c.changed = true
			return to
		}
	}
	return v
}

// scalarOf makes a value of a scalar of the schema; nil for anything else.
func scalarOf(v any) *value {
	switch v := v.(type) {
	case string:
		return &value{kind: text, text: v}
	case bool:
		if v {
			return &value{kind: boolean, text: "true"}
		}
		return &value{kind: boolean, text: "false"}
	case json.Number:
		return &value{kind: number, text: v.String()}
	default:
		return nil
	}
}

// reads is the text by which scalars are compared.
func reads(v *value) string {
	switch v.kind {
	case null:
		return "null"
	case number:
		return written(v.text)
	default:
		return v.text
	}
}

// scalar converts a scalar of the wrong type to the first of the wanted types
// in which it reads the same.
func (c *converter) scalar(v *value, s *jsonschema.Schema) *value {
	if s.Types == nil || v.kind == array || v.kind == object {
		return v
	}
	types := s.Types.ToStrings()
	if c.accepts(&jsonschema.Schema{DraftVersion: s.DraftVersion, Types: s.Types}, v) {
		return v
	}
	for _, as := range []string{"integer", "number", "boolean", "null", "string"} {
		if !slices.Contains(types, as) {
			continue
		}
		if to := scalarAs(v, as); to != nil {
			c.changed = true
			return to
		}
	}
	return v
}

// scalarAs is v as a scalar of another type; nil where that would be a guess.
func scalarAs(v *value, as string) *value {
	if as == "string" {
		if v.kind == null {
			return nil
		}
		return &value{kind: text, text: reads(v)}
	}
	if v.kind != text {
		return nil
	}
	word := strings.ToLower(v.text)
	switch {
	case as == "boolean" && (word == "true" || word == "false"):
		return &value{kind: boolean, text: word}
	case as == "null" && word == "null":
		return &value{kind: null}
	case as == "integer", as == "number":
		literal, ok := numeric(v.text)
		if ok && as == "integer" {
			literal, ok = integral(literal)
		}
		if ok {
			return &value{kind: number, text: literal}
		}
	}
	return nil
}

// wrap makes a list of a single value where a list is wanted and the list is
// valid. A null stays: nobody knows whether it meant no list. So does a text
// that holds a list itself: models do encode twice, and a list of that text
// would be the wrong one.
func (c *converter) wrap(v *value, s *jsonschema.Schema) *value {
	if s.Types == nil || v.kind == array || v.kind == null || !slices.Contains(s.Types.ToStrings(), "array") {
		return v
	}
	tuple := len(s.PrefixItems) > 0
	if _, older := s.Items.([]*jsonschema.Schema); tuple || older {
		return v
	}
	if c.accepts(&jsonschema.Schema{DraftVersion: s.DraftVersion, Types: s.Types}, v) || encodedList(v) {
		return v
	}
	trial := converter{work: c.work, nested: c.nested}
	list := trial.items(&value{kind: array, items: []*value{v}}, s)
	if !c.accepts(s, list) {
		return v
	}
	c.changed = true
	return list
}

func encodedList(v *value) bool {
	s := strings.TrimSpace(v.text)
	return v.kind == text && strings.HasPrefix(s, "[") && json.Valid([]byte(s))
}

// alternative keeps a value that some branch accepts, else takes the first
// branch that accepts what it makes of it.
func (c *converter) alternative(v *value, branches []*jsonschema.Schema) *value {
	if slices.ContainsFunc(branches, func(b *jsonschema.Schema) bool { return c.accepts(b, v) }) {
		return v
	}
	for _, b := range branches {
		trial := converter{work: c.work, nested: c.nested}
		to := trial.convert(v, b)
		if trial.changed && c.accepts(b, to) {
			c.changed = true
			return to
		}
	}
	return v
}

// members converts the values of an object and drops a null that stands for
// an optional property which takes none.
func (c *converter) members(v *value, s *jsonschema.Schema) *value {
	result := &value{kind: object}
	for _, m := range v.members {
		to := m.value
		property, known := s.Properties[m.key]
		if known && to.kind == null && !slices.Contains(s.Required, m.key) && !c.accepts(property, to) {
			c.changed = true
			continue
		}
		for _, s := range propertySchemas(s, m.key) {
			to = c.convert(to, s)
		}
		result.members = append(result.members, member{key: m.key, raw: m.raw, value: to})
	}
	if slices.EqualFunc(result.members, v.members, func(a, b member) bool { return a.value == b.value }) {
		return v
	}
	return result
}

// propertySchemas lists what applies to a key, patterns in their text's order.
func propertySchemas(s *jsonschema.Schema, key string) []*jsonschema.Schema {
	var apply []*jsonschema.Schema
	if p, ok := s.Properties[key]; ok {
		apply = append(apply, p)
	}
	patterns := slices.SortedFunc(maps.Keys(s.PatternProperties), func(a, b jsonschema.Regexp) int {
		return cmp.Compare(a.String(), b.String())
	})
	for _, p := range patterns {
		if p.MatchString(key) {
			apply = append(apply, s.PatternProperties[p])
		}
	}
	if other, ok := s.AdditionalProperties.(*jsonschema.Schema); ok && len(apply) == 0 {
		apply = append(apply, other)
	}
	return apply
}

func (c *converter) items(v *value, s *jsonschema.Schema) *value {
	result := &value{kind: array}
	for i, item := range v.items {
		result.items = append(result.items, c.convert(item, itemSchema(s, i)))
	}
	if slices.Equal(result.items, v.items) {
		return v
	}
	return result
}

// itemSchema is what applies to the i-th item, in the old and the new
// notation; nil if nothing does.
func itemSchema(s *jsonschema.Schema, i int) *jsonschema.Schema {
	if i < len(s.PrefixItems) {
		return s.PrefixItems[i]
	}
	if s.Items2020 != nil {
		return s.Items2020
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		return items
	case []*jsonschema.Schema:
		if i < len(items) {
			return items[i]
		}
		other, _ := s.AdditionalItems.(*jsonschema.Schema)
		return other
	}
	return nil
}
