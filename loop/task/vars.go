package task

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// variable is a declaration under vars.
type variable struct {
	typ      string
	required bool
	def      *table.Node
	enum     []table.Scalar
}

// Types of variables that are no kinds of scalars.
const (
	typeFile = "file"
	typeList = "list"
)

func variableValue() table.Value[variable] {
	return table.Mapping("a variable", variable{typ: "string"}, func(k *table.Keys, v *variable) {
		table.To(k, "type", table.OneOf("string", "integer", "number", "boolean", typeFile, typeList), &v.typ,
			"Type of the value; default string. A file variable holds the text of the file, a list one texts.")
		table.To(k, "required", table.Boolean(), &v.required, "There must be a value, by --var or --vars.")
		table.To(k, "default", table.Raw(), &v.def, "Value without --var and --vars.")
		table.To(k, "enum", table.Some(table.Plain()), &v.enum, "The values that are allowed.")
		table.Only(k, "description", table.Text(), "What the variable is for.")
	}).Then(func(d *table.Decoder, n *table.Node, v *variable) {
		if v.required && v.def != nil {
			d.At(n, "", "a required variable has no use for a default")
		}
	})
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// vars reads the declarations and gives each variable its value. What failed
// is known and broken, so that its uses are not reported again.
func (r *reader) vars() table.Value[*table.Node] {
	return table.Raw().Then(func(_ *table.Decoder, n *table.Node, _ **table.Node) {
		if !n.IsMapping() {
			r.At(n, "write vars: { name: { type: string } }", "vars is a mapping, found %s", n.Describe())
		}
		values := map[string]table.Scalar{}
		for _, m := range n.Members() {
			r.scope.known = append(r.scope.known, m.Name)
			if s, set, ok := r.variable(m); !ok {
				r.scope.broken["vars."+m.Name] = true
			} else if set {
				values[m.Name] = s
			}
		}
		r.scope.vars = values
	}).Says(func() *table.Schema {
		return &table.Schema{Type: "object", AdditionalProperties: variableValue().Schema()}
	})
}

// variable gives one variable its value.
func (r *reader) variable(m table.Member) (s table.Scalar, set, ok bool) {
	switch {
	case !variableName.MatchString(m.Name):
		r.At(m.Key, "", "%s is no name for a variable", table.Quote(m.Name))
		return s, false, false
	case !m.Value.IsMapping():
		r.At(m.Value, fmt.Sprintf("write %s: { default: … }", m.Name), "a variable is a mapping, found %s", m.Value.Describe())
		return s, false, false
	}
	v, ok := variableValue().Decode(r.Decoder, m.Value)
	if !ok {
		return s, false, false
	}
	if v.def != nil { // checked even if it is overridden
		if s, ok = r.defaultValue(v); !ok {
			return s, false, false
		}
	}
	if text, given := r.opts.Vars[m.Name]; given {
		s = table.Scalar{Kind: table.Untyped, Text: text}
		if v.typ == typeList {
			s = table.SplitList(text)
		}
		s, ok = r.typed(v, s, m.Key, fmt.Sprintf("the value given to %q: ", m.Name))
		return s, ok, ok
	}
	if v.required {
		r.At(m.Key, "set it with --var "+m.Name+"=…", "the variable %q has no value", m.Name)
	}
	return s, v.def != nil, !v.required
}

// defaultValue reads the default of a variable. It may use the environment.
func (r *reader) defaultValue(v variable) (table.Scalar, bool) {
	if v.typ == typeList && v.def.IsList() {
		items, ok := table.List(table.Plain()).Decode(r.Decoder, v.def)
		return table.Scalar{Kind: table.ListKind, Items: items}, ok
	}
	s, ok := r.Scalar(v.def, "a value of type "+v.typ)
	if !ok {
		return s, false
	}
	if _, ok := s.As(table.TextKind); ok && v.typ == typeFile {
		s.Text = r.Path(s.Text)
	}
	return r.typed(v, s, v.def, "")
}

// typed gives a value the type of the variable, a path the text of the file.
func (r *reader) typed(v variable, s table.Scalar, place *table.Node, prefix string) (table.Scalar, bool) {
	if path, ok := s.As(table.TextKind); ok && v.typ == typeFile {
		text, ok := r.ReadText(place, path.Text)
		return table.Scalar{Kind: table.TextKind, Text: text}, ok
	}
	s, problem := v.convert(s)
	if problem != "" {
		r.At(place, "", "%s%s", prefix, problem)
	}
	return s, problem == ""
}

// convert gives a value the type of the variable.
func (v variable) convert(s table.Scalar) (table.Scalar, string) {
	got, ok := s.As(map[string]table.Kind{
		"string": table.TextKind, "integer": table.IntegerKind, "number": table.NumberKind,
		"boolean": table.BooleanKind, typeFile: table.TextKind, typeList: table.ListKind,
	}[v.typ])
	if !ok {
		return s, "want type " + v.typ + ", found " + s.Describe()
	}
	values := []table.Scalar{got}
	if len(got.Items) > 0 {
		values = got.Items
	}
	allowed := table.Texts(v.enum)
	for _, one := range values {
		if len(allowed) > 0 && !slices.Contains(allowed, one.Text) {
			return s, table.Quote(one.Text) + " is none of " + strings.Join(allowed, ", ")
		}
	}
	return got, ""
}

// checkOverrides reports values for variables that the file does not have.
func (r *reader) checkOverrides() {
	if r.opts.SharedVars {
		return
	}
	place := r.Root
	if n := r.Root.Find("vars"); n != nil && n.IsMapping() {
		place = n
	}
	for _, name := range undeclared(r.opts.Vars, r.scope.known) {
		r.At(place, table.Suggest(name, r.scope.known, "variables"), "a value is given to %q, which is not declared under vars", name)
	}
}

// undeclared lists the variables that get a value and are not known.
func undeclared(vars map[string]string, known []string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(vars)), func(name string) bool { return slices.Contains(known, name) })
}

// ParseVars reads a file of values for variables, YAML or JSON: one mapping of
// names to texts, numbers, booleans or lists of these. The result is meant for
// [Options].Vars. The error is [Errors].
func ParseVars(name string, data []byte) (map[string]string, error) {
	d := table.Open(name, data, format())
	checkSecrets(d)
	if d.Root == nil {
		return nil, d.Err()
	}
	out := map[string]string{}
	for _, m := range d.Root.Members() {
		switch {
		case m.Value.IsList():
			out[m.Name] = string(m.Value.Literal())
		case m.Value.IsMapping():
			d.At(m.Value, "", "want a text, a number or a list, found %s", m.Value.Describe())
		default:
			s, ok := d.Scalar(m.Value, "")
			if ok && s.Kind == table.NullKind {
				d.At(m.Value, "", "the variable has no value")
			}
			out[m.Name] = s.Text
		}
	}
	return out, d.Err()
}
