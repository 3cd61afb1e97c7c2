package schema

import (
	"cmp"
	"slices"
	"strings"
)

// sort puts faults into the order of the schema. The library walks over maps,
// so its own order differs from run to run.
func (x *explanation) sort(faults []fault) {
	keys := make(map[string][]string)
	slices.SortStableFunc(faults, func(a, b fault) int { return x.compare(a, b, keys) })
}

// compare orders two faults by the first name in which their paths differ. A
// fault of a value stands before those of what is inside of it.
func (x *explanation) compare(a, b fault, keys map[string][]string) int {
	depth := 0
	for depth < len(a.path) && depth < len(b.path) && a.path[depth] == b.path[depth] {
		depth++
	}
	if depth == len(a.path) || depth == len(b.path) {
		return cmp.Or(cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.text(), b.text()))
	}
	parent := a.path[:depth]
	place := func(f fault) int {
		if f.rank != 0 && depth == len(f.path)-1 {
			return f.rank
		}
		return x.place(parent, f.path[depth], keys)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a.path[depth], b.path[depth]))
}

// place is where a key of the value at parent comes: declared properties as
// the schema lists them, then the others as they were sent.
func (x *explanation) place(parent []string, name string, keys map[string][]string) int {
	at := pointer(parent)
	declared, ok := keys[at]
	if !ok {
		declared = x.declared(parent)
		keys[at] = declared
	}
	if i := slices.Index(declared, name); i >= 0 {
		return i
	}
	v := x.value.at(parent)
	if v == nil {
		return len(declared)
	}
	if v.kind == array {
		return slices.Index(v.items, v.child(name))
	}
	return len(declared) + v.index(name)
}

// declared lists the properties that the schema names for the value at path.
func (x *explanation) declared(path []string) []string {
	level := expand(x.schema.document, x.schema.document, nil)
	for _, name := range path {
		var next []*value
		for _, s := range level {
			for _, sub := range below(s, name) {
				next = expand(x.schema.document, sub, next)
			}
		}
		level = next
	}
	var names []string
	for _, s := range level {
		properties := s.member("properties")
		if !properties.isObject() {
			continue
		}
		for _, m := range properties.members {
			if !slices.Contains(names, m.key) {
				names = append(names, m.key)
			}
		}
	}
	return names
}

// expand adds s and every schema that applies to the same value to level.
func expand(root, s *value, level []*value) []*value {
	if !s.isObject() || slices.Contains(level, s) {
		return level
	}
	level = append(level, s)
	if ref := s.member("$ref"); ref != nil && ref.kind == text {
		if target := resolve(root, ref.text); target != nil {
			level = expand(root, target, level)
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if list := s.member(keyword); list != nil {
			for _, item := range list.items {
				level = expand(root, item, level)
			}
		}
	}
	for _, keyword := range []string{"then", "else"} {
		level = expand(root, s.member(keyword), level)
	}
	return level
}

// below lists the schemas that s has for a property or an item.
func below(s *value, name string) []*value {
	var subs []*value
	if properties := s.member("properties"); properties.isObject() {
		subs = append(subs, properties.member(name))
	}
	for _, keyword := range []string{"prefixItems", "items"} {
		if list := s.member(keyword); list != nil && list.kind == array {
			subs = append(subs, list.child(name))
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if one := s.member(keyword); one.isObject() {
			subs = append(subs, one)
		}
	}
	return slices.DeleteFunc(subs, func(v *value) bool { return v == nil })
}
