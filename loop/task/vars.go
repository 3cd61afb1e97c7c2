package task

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// variable is a declaration under vars.
type variable struct {
	name     string
	place    *yaml.Node
	kind     string
	required bool
	def      *yaml.Node
	enum     []scalar
	doc      string
}

// The types of variables.
const (
	typeString  = "string"
	typeInteger = "integer"
	typeNumber  = "number"
	typeBoolean = "boolean"
	typeFile    = "file"
	typeList    = "list"
)

func variableTable() object[variable] {
	return object[variable]{
		name: "a variable",
		keys: []key[variable]{
			to("type", oneOf(typeString, typeInteger, typeNumber, typeBoolean, typeFile, typeList), func(v *variable) *string { return &v.kind },
				"Type of the value; default string. A file variable holds the text of the file, a list one texts."),
			to("required", boolean(), func(v *variable) *bool { return &v.required }, "There must be a value, by --var or --vars."),
			{
				name: "default", schema: &schemaNode{}, doc: "Value without --var and --vars.",
				set: func(_ *decoder, n *yaml.Node, v *variable) { v.def = n },
			},
			to("enum", nonEmpty(list(anyScalar())), func(v *variable) *[]scalar { return &v.enum }, "The values that are allowed."),
			to("description", text(), func(v *variable) *string { return &v.doc }, "What the variable is for."),
		},
		check: func(d *decoder, n *yaml.Node, v *variable) {
			if v.required && v.def != nil {
				d.at(n, "", "a required variable has no use for a default")
			}
		},
	}
}

// anyScalar is a text, a number, true or false.
func anyScalar() value[scalar] {
	return value[scalar]{
		schema: &schemaNode{},
		decode: func(d *decoder, n *yaml.Node) (scalar, bool) {
			s, ok := d.scalar(n, "a text or a number")
			if ok && (s.kind == nullKind || s.kind == listKind) {
				d.at(n, "", "want a text or a number, found %s", s.describe())
				return s, false
			}
			return s, ok
		},
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// vars reads the declarations and gives each variable its value. What failed
// is known and broken, so that its uses are not reported again.
func (d *decoder) vars(n *yaml.Node) {
	if n != nil && n.Kind != yaml.MappingNode {
		d.at(n, "write vars: { name: { type: string } }", "vars is a mapping, found %s", kindName(n))
		n = nil
	}
	values := map[string]scalar{}
	if n != nil {
		for _, m := range members(n) {
			d.scope.known = append(d.scope.known, m.name)
			if s, set, ok := d.variable(m); !ok {
				d.scope.broken["vars."+m.name] = true
			} else if set {
				values[m.name] = s
			}
		}
	}
	d.scope.vars = values
	d.checkOverrides(n)
}

// variable gives one variable its value.
func (d *decoder) variable(m member) (s scalar, set, ok bool) {
	v := variable{name: m.name, place: m.key, kind: typeString}
	switch {
	case !variableName.MatchString(m.name):
		d.at(m.key, "", "%s is no name for a variable", quoted(m.name))
		return s, false, false
	case m.value.Kind != yaml.MappingNode:
		d.at(m.value, fmt.Sprintf("write %s: { default: … }", m.name), "a variable is a mapping, found %s", kindName(m.value))
		return s, false, false
	case !variableTable().decode(d, m.value, &v):
		return s, false, false
	}
	if v.def != nil { // checked even if it is overridden
		if s, ok = d.defaultValue(v); !ok {
			return s, false, false
		}
		set = true
	}
	if text, given := d.opts.Vars[v.name]; given {
		s, ok = d.override(v, text)
		return s, ok, ok
	}
	if !set && v.required {
		d.at(v.place, "set it with --var "+v.name+"=…", "the variable %q has no value", v.name)
		return s, false, false
	}
	return s, set, true
}

// defaultValue reads the default of a variable. It may use the environment.
func (d *decoder) defaultValue(v variable) (scalar, bool) {
	if v.kind == typeList && v.def.Kind == yaml.SequenceNode {
		items, ok := list(anyScalar()).decode(d, v.def)
		return scalar{kind: listKind, items: items}, ok
	}
	s, ok := d.scalar(v.def, "a value of type "+v.kind)
	if !ok {
		return s, false
	}
	if v.kind == typeFile && (s.kind == stringKind || s.kind == untyped) {
		text, ok := d.readText(v.def, d.path(s.text))
		return scalar{kind: stringKind, text: text}, ok
	}
	s, problem := v.convert(s)
	if problem != "" {
		d.at(v.def, "", "%s", problem)
	}
	return s, problem == ""
}

// override reads the value that the caller gave to a variable.
func (d *decoder) override(v variable, text string) (scalar, bool) {
	if v.kind == typeFile {
		text, ok := d.readText(v.place, text)
		return scalar{kind: stringKind, text: text}, ok
	}
	s := scalar{kind: untyped, text: text}
	if v.kind == typeList {
		s = listScalar(text)
	}
	s, problem := v.convert(s)
	if problem != "" {
		d.at(v.place, "", "the value given to %q: %s", v.name, problem)
	}
	return s, problem == ""
}

// convert gives a value the type of the variable.
func (v variable) convert(s scalar) (scalar, string) {
	want := map[string]kind{typeString: stringKind, typeInteger: integerKind, typeNumber: numberKind, typeBoolean: booleanKind, typeFile: stringKind, typeList: listKind}[v.kind]
	valid := s.kind == want || s.kind == integerKind && want == numberKind
	if s.kind == untyped {
		switch want {
		case stringKind:
			valid = true
		case integerKind:
			valid = jsonInteger.MatchString(s.text)
		case numberKind:
			valid = jsonNumber.MatchString(s.text)
		case booleanKind:
			valid = s.text == "true" || s.text == "false"
		}
	}
	if !valid {
		return s, "want type " + v.kind + ", found " + s.describe()
	}
	s.kind = want
	if len(v.enum) == 0 {
		return s, ""
	}
	names := make([]string, len(v.enum))
	for i, e := range v.enum {
		names[i] = e.text
	}
	for _, one := range append(s.items, s)[:max(len(s.items), 1)] {
		if !slices.Contains(names, one.text) {
			return s, quoted(one.text) + " is none of " + strings.Join(names, ", ")
		}
	}
	return s, ""
}

// listScalar reads a list out of one text: [a, b] as in YAML, or a,b.
func listScalar(text string) scalar {
	s := scalar{kind: listKind}
	var items []string
	if strings.HasPrefix(strings.TrimSpace(text), "[") && yaml.Unmarshal([]byte(text), &items) == nil {
		text = ""
	} else if text != "" {
		items = strings.Split(text, ",")
	}
	for _, item := range items {
		s.items = append(s.items, scalar{kind: stringKind, text: strings.TrimSpace(item)})
	}
	return s
}

// checkOverrides reports values for variables that the file does not have.
func (d *decoder) checkOverrides(n *yaml.Node) {
	if d.opts.SharedVars {
		return
	}
	if n == nil {
		n = d.doc.root
	}
	for _, name := range slices.Sorted(maps.Keys(d.opts.Vars)) {
		if !slices.Contains(d.scope.known, name) {
			d.at(n, suggest(name, d.scope.known, "variables"), "a value is given to %q, which is not declared under vars", name)
		}
	}
}

// ParseVars reads a file of values for variables, YAML or JSON: one mapping of
// names to texts, numbers, booleans or lists of these. The result is meant for
// [Options].Vars. The error is [Errors].
func ParseVars(name string, data []byte) (map[string]string, error) {
	p := &problems{file: name}
	doc := parseDocument(data, p)
	if doc == nil {
		return nil, p.err()
	}
	out := map[string]string{}
	for _, m := range members(doc.root) {
		switch m.value.Kind {
		case yaml.SequenceNode:
			out[m.name] = string(literalJSON(m.value))
		case yaml.ScalarNode:
			s, problem := plainScalar(m.value)
			if problem == "" && s.kind == nullKind {
				problem = "the variable has no value"
			}
			if problem != "" {
				p.at(m.value, "", "%s", problem)
			}
			out[m.name] = s.text
		default:
			p.at(m.value, "", "want a text, a number or a list, found %s", kindName(m.value))
		}
	}
	return out, p.err()
}
