package schema

import (
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxWork bounds the steps of one validation. The library tries each
// alternative anew, so that a recursive schema with two of them takes 2ⁿ steps
// for arguments nested n deep; about a million steps are a second.
const maxWork = 1_000_000

// perValue lets large arguments have more steps; a schema takes a few for each
// value.
const perValue = 100

func allowance(v *value) *work { return &work{left: maxWork + perValue*v.size()} }

// work counts the steps that validating takes.
type work struct {
	left   int
	nested int // schemas entered for one and the same value
}

// spend takes the steps for v and s from what is left, and reports whether
// that was enough.
func (w *work) spend(v *value, s *jsonschema.Schema) bool {
	w.left--
	if w.left < 0 {
		return false
	}
	if s == nil || s.Bool != nil || w.nested > maxNested {
		return true // the library finds a circle itself
	}
	w.nested++
	defer func() { w.nested-- }()
	for _, same := range [][]*jsonschema.Schema{{s.Ref, s.Not, s.If, s.Then, s.Else, s.RecursiveRef}, s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range same {
			if sub != nil && !w.spend(v, sub) {
				return false
			}
		}
	}
	if s.DynamicRef != nil && !w.spend(v, s.DynamicRef.Ref) {
		return false
	}
	return w.inside(v, s)
}

func (w *work) inside(v *value, s *jsonschema.Schema) bool {
	nested := w.nested
	w.nested = 0
	defer func() { w.nested = nested }()
	for _, m := range v.members {
		for _, sub := range propertySchemas(s, m.key) {
			if !w.spend(m.value, sub) {
				return false
			}
		}
	}
	for i, item := range v.items {
		if !w.spend(item, itemSchema(s, i)) || s.Contains != nil && !w.spend(item, s.Contains) {
			return false
		}
	}
	return true
}
