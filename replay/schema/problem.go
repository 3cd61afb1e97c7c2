package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// ValidationError says what is wrong with arguments.
type ValidationError struct {
	// Problems are in the order of the schema: missing properties as
	// `required` lists them, then properties as declared, then other keys as
	// sent, and so on inside of each.
	Problems []Problem
}

// Problem is one thing that is wrong.
type Problem struct {
	Path    string // dotted: steps.0.id; "root" is the whole
	Message string
}

// maxShown bounds the text that a model gets; a list of a million wrong items
// has a million problems.
const maxShown = 50

// Error has one line per problem: "  - PATH: MESSAGE".
func (e *ValidationError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i == maxShown {
			fmt.Fprintf(&b, "\n  - ... and %d more", len(e.Problems)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "  - %s: %s", p.Path, p.Message)
	}
	return b.String()
}

// fault is a problem that can still be compared and joined with others.
type fault struct {
	path    []string
	message string
	rank    int      // of a missing key among its siblings, negative; else 0
	types   []string // wanted, of a wrong type
	got     string
	members []any // wanted, of a const or enum
}

// explain turns what the library found into problems.
func (s *Schema) explain(e *jsonschema.ValidationError, v *value) *ValidationError {
	x := explanation{schema: s, value: v}
	faults := x.faults(e)
	x.sort(faults)
	result := &ValidationError{}
	for i := range faults {
		p := Problem{Path: dotted(faults[i].path), Message: faults[i].text()}
		if !slices.Contains(result.Problems[max(0, len(result.Problems)-maxShown):], p) {
			result.Problems = append(result.Problems, p)
		}
	}
	return result
}

type explanation struct {
	schema *Schema
	value  *value
}

// faults lists what e and its causes say.
func (x *explanation) faults(e *jsonschema.ValidationError) []fault {
	path := slices.Clone(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		return x.causes(e)
	case *kind.AnyOf:
		return x.choose(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return x.choose(e)
		}
		return []fault{{path: path, message: "matches several of the alternatives, expected exactly one"}}
	case *kind.Required:
		return missing(path, k.Missing, -1<<30, "missing")
	case *kind.Dependency:
		return missing(path, k.Missing, -1<<20, "required when "+k.Prop+" is present")
	case *kind.DependentRequired:
		return missing(path, k.Missing, -1<<20, "required when "+k.Prop+" is present")
	case *kind.AdditionalProperties:
		return missing(path, k.Properties, 0, "unknown field")
	case *kind.PropertyNames:
		return missing(x.holder(path, k.Property), []string{k.Property}, 0, "invalid property name")
	case *kind.Type:
		return []fault{{path: path, types: k.Want, got: x.got(path)}}
	case *kind.Const:
		return []fault{{path: path, members: []any{k.Want}}}
	case *kind.Enum:
		return []fault{{path: path, members: k.Want}}
	default:
		return []fault{{path: path, message: x.message(e)}}
	}
}

func (x *explanation) causes(e *jsonschema.ValidationError) []fault {
	var all []fault
	for _, c := range e.Causes {
		all = append(all, x.faults(c)...)
	}
	return all
}

// missing makes a fault for each of some keys of the object at path.
func missing(path, keys []string, rank int, message string) []fault {
	faults := make([]fault, len(keys))
	for i, key := range keys {
		faults[i] = fault{path: append(slices.Clone(path), key), message: message}
		if rank != 0 {
			faults[i].rank = rank + i
		}
	}
	return faults
}

// holder is the path of the object that has the key. The library (v6.0.3)
// gives the errors of propertyNames a path whose array it goes on to use, so
// that the last names may be those of a sibling.
func (x *explanation) holder(path []string, key string) []string {
	if v := x.value.at(path); v.isObject() && v.member(key) != nil {
		return path
	}
	for found, v := range x.value.all(nil) {
		if len(found) == len(path) && v.isObject() && v.member(key) != nil {
			return found
		}
	}
	return path
}

// choose explains alternatives of which none fits: by the branches that a
// value of this type could have meant, by what tells these apart, else by the
// one with the fewest problems.
func (x *explanation) choose(e *jsonschema.ValidationError) []fault {
	var branches, plausible [][]fault
	for _, c := range e.Causes {
		f := x.faults(c)
		branches = append(branches, f)
		if !slices.ContainsFunc(f, func(f fault) bool { return f.types != nil && slices.Equal(f.path, e.InstanceLocation) }) {
			plausible = append(plausible, f)
		}
	}
	if len(plausible) == 0 {
		return joinTypes(branches)
	}
	if f, ok := discriminator(plausible); ok {
		return []fault{f}
	}
	return slices.MinFunc(plausible, func(a, b []fault) int { return len(a) - len(b) })
}

func joinTypes(branches [][]fault) []fault {
	var joined fault
	for _, faults := range branches {
		for _, f := range faults {
			if f.types == nil {
				continue
			}
			joined.path, joined.got = f.path, f.got
			for _, t := range f.types {
				if !slices.Contains(joined.types, t) {
					joined.types = append(joined.types, t)
				}
			}
		}
	}
	return []fault{joined}
}

// discriminator is the const or enum at one place that every branch refuses.
func discriminator(branches [][]fault) (fault, bool) {
	if len(branches) < 2 {
		return fault{}, false
	}
	for _, first := range branches[0] {
		joined := fault{path: first.path}
		for _, faults := range branches {
			i := slices.IndexFunc(faults, func(f fault) bool { return f.members != nil && slices.Equal(f.path, first.path) })
			if i < 0 {
				joined.members = nil
				break
			}
			joined.members = append(joined.members, faults[i].members...)
		}
		if joined.members != nil {
			return joined, true
		}
	}
	return fault{}, false
}

func (f *fault) text() string {
	switch {
	case f.types != nil:
		return "expected " + strings.Join(f.types, " or ") + ", got " + f.got
	case len(f.members) == 1:
		return "expected " + compact(f.members[0])
	case f.members != nil:
		return "expected one of [" + list(f.members) + "]"
	default:
		return f.message
	}
}

// list shows up to 20 values.
func list(values []any) string {
	const most = 20
	var shown []string
	for _, v := range values[:min(len(values), most)] {
		shown = append(shown, compact(v))
	}
	s := strings.Join(shown, ",")
	if n := len(values) - most; n > 0 {
		s += fmt.Sprintf(", ... and %d more", n)
	}
	return s
}

func compact(v any) string {
	if s, ok := v.(string); ok {
		return string(jsonx.AppendString(nil, s))
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// got is the type of the value at path, as JSON Schema calls it.
func (x *explanation) got(path []string) string {
	v := x.value.at(path)
	if v == nil {
		return "nothing"
	}
	if v.kind == number {
		if _, ok := integral(v.text); ok {
			return "integer"
		}
	}
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[v.kind]
}

// message is the text for a keyword that needs no comparing.
func (x *explanation) message(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Minimum:
		return "expected >= " + exact(k.Want)
	case *kind.Maximum:
		return "expected <= " + exact(k.Want)
	case *kind.ExclusiveMinimum:
		return "expected > " + exact(k.Want)
	case *kind.ExclusiveMaximum:
		return "expected < " + exact(k.Want)
	case *kind.MultipleOf:
		return "expected a multiple of " + exact(k.Want)
	case *kind.MinLength:
		return fmt.Sprintf("expected at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("expected at most %d characters", k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("expected at least %d items", k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("expected at most %d items", k.Want)
	case *kind.MinProperties:
		return fmt.Sprintf("expected at least %d properties", k.Want)
	case *kind.MaxProperties:
		return fmt.Sprintf("expected at most %d properties", k.Want)
	case *kind.Pattern:
		return "expected to match " + k.Want
	case *kind.Format:
		return "expected format " + k.Want
	case *kind.UniqueItems:
		return fmt.Sprintf("expected unique items, %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.FalseSchema:
		return "unknown field"
	case *kind.RefCycle:
		return "the schema refers to itself without end"
	case *kind.Not:
		_, at, _ := strings.Cut(e.SchemaURL, "#")
		if ref, ok := x.schema.unresolved[unescapeURL(at)]; ok {
			return "unresolved reference " + ref
		}
		return "has a form that is excluded"
	default:
		return e.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	}
}

// exact writes a number of a schema in full: those are decimal fractions.
func exact(r *big.Rat) string {
	digits, _ := r.FloatPrec()
	return r.FloatString(digits)
}

// dotted is how a path is shown to the model.
func dotted(path []string) string {
	if len(path) == 0 {
		return "root"
	}
	return strings.Join(path, ".")
}
