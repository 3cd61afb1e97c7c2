package task

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bounds of what one file may expand to.
const (
	maxTasks  = 10_000
	maxRepeat = 10_000
	maxWork   = 20_000_000 // tasks times values of the file: some seconds
)

// matrix is what makes many tasks out of one.
type matrix struct {
	place   *yaml.Node
	axes    []axis
	exclude []map[string]string
}

type axis struct {
	name   string
	values []scalar
}

func matrixTable() object[matrix] {
	return object[matrix]{
		name: "matrix",
		keys: []key[matrix]{
			to("axes", axes(), func(m *matrix) *[]axis { return &m.axes }, "The axes with their values; there is a task for every combination.").must(),
			to("exclude", list(mapOf(anyScalarText())), func(m *matrix) *[]map[string]string { return &m.exclude }, "Combinations to leave out; an axis that is not named matches with all its values."),
		},
		check: func(d *decoder, n *yaml.Node, m *matrix) {
			m.place = n
			d.checkExclude(n, m)
		},
	}
}

// axes reads the axes in file order, which is the order in task ids.
func axes() value[[]axis] {
	values := nonEmpty(list(anyScalar()))
	return value[[]axis]{
		schema: &schemaNode{Type: "object", AdditionalProperties: &schemaNode{AnyOf: []*schemaNode{values.schema, ref("expression")}}, MinProperties: 1},
		decode: func(d *decoder, n *yaml.Node) ([]axis, bool) {
			if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
				found := kindName(n)
				if n.Kind == yaml.MappingNode {
					found = "an empty one"
				}
				d.at(n, "write axes: { model: [a, b] }", "axes is a mapping of names to lists, found %s", found)
				return nil, false
			}
			var out []axis
			all := true
			for _, m := range members(n) {
				if !variableName.MatchString(m.name) {
					d.at(m.key, "", "%s is no name for an axis", quoted(m.name))
					all = false
					continue
				}
				got, ok := d.axisValues(m.value, values)
				all = all && ok
				out = append(out, axis{m.name, got})
			}
			return out, all
		},
	}
}

// axisValues reads a list, or an expression that names one.
func (d *decoder) axisValues(n *yaml.Node, values value[[]scalar]) ([]scalar, bool) {
	if n.Kind == yaml.ScalarNode {
		s, ok := d.scalar(n, "a list")
		if ok && (s.kind != listKind || len(s.items) == 0) {
			d.at(n, "", "want a list that is not empty, found %s", s.describe())
			return nil, false
		}
		return s.items, ok
	}
	got, ok := values.decode(d, n)
	for i, s := range got {
		if ok && slices.ContainsFunc(got[:i], func(other scalar) bool { return other.text == s.text }) {
			d.at(n.Content[i], "", "the value %s is here twice", quoted(s.text))
			ok = false
		}
	}
	return got, ok
}

// anyScalarText is a text, number or boolean as its text.
func anyScalarText() value[string] {
	return value[string]{
		schema: &schemaNode{},
		decode: func(d *decoder, n *yaml.Node) (string, bool) {
			s, ok := anyScalar().decode(d, n)
			return s.text, ok
		},
	}
}

// checkExclude reports exclusions that can never match.
func (d *decoder) checkExclude(n *yaml.Node, m *matrix) {
	var list *yaml.Node
	for _, one := range members(n) {
		if one.name == "exclude" {
			list = one.value
		}
	}
	if list == nil {
		return
	}
	names := make([]string, len(m.axes))
	for i, a := range m.axes {
		names[i] = a.name
	}
	for i, item := range list.Content {
		if len(m.exclude[i]) == 0 {
			d.at(item, "", "an exclusion without axes would leave nothing")
		}
		for _, one := range members(target(item)) {
			at := slices.Index(names, one.name)
			if at < 0 {
				d.at(one.key, suggest(one.name, names, "axes"), "the matrix has no axis %s", quoted(one.name))
				continue
			}
			var values []string
			for _, v := range m.axes[at].values {
				values = append(values, v.text)
			}
			if got := m.exclude[i][one.name]; !slices.Contains(values, got) {
				d.at(one.value, suggest(got, values, "values"), "the axis %s has no value %s", one.name, quoted(got))
			}
		}
	}
}

// combination is one task to be made.
type combination struct {
	values []scalar // one per axis
	sample int      // 0 without repeat
}

// combinations gives the product of the axes without what is excluded, times
// repeat: the last axis changes fastest, samples of a cell follow each other.
// False: more than maxTasks.
func (m matrix) combinations(repeat int) ([]combination, bool) {
	cells := [][]scalar{nil}
	for _, a := range m.axes {
		if len(cells)*len(a.values) > maxTasks {
			return nil, false
		}
		var next [][]scalar
		for _, c := range cells {
			for _, v := range a.values {
				next = append(next, append(slices.Clone(c), v))
			}
		}
		cells = next
	}
	cells = slices.DeleteFunc(cells, m.excluded)
	if len(cells)*max(repeat, 1) > maxTasks {
		return nil, false
	}
	var out []combination
	for _, c := range cells {
		if repeat <= 1 {
			out = append(out, combination{values: c})
			continue
		}
		for sample := range repeat {
			out = append(out, combination{c, sample + 1})
		}
	}
	return out, true
}

func (m matrix) excluded(cell []scalar) bool {
	return slices.ContainsFunc(m.exclude, func(ex map[string]string) bool {
		for i, a := range m.axes {
			if want, named := ex[a.name]; named && want != cell[i].text {
				return false
			}
		}
		return true
	})
}

var outsideID = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// maxID leaves room for .try12.jsonl in a file name of 255 bytes.
const maxID = 200

// id names a task: its name, the values in axis order, the sample.
func (c combination) id(name string) string {
	parts := []string{nameInID(name)}
	for _, v := range c.values {
		parts = append(parts, outsideID.ReplaceAllString(v.text, "-"))
	}
	if c.sample > 0 {
		parts = append(parts, "r"+strconv.Itoa(c.sample))
	}
	return strings.Join(parts, ".")
}

// nameInID keeps dots of a name, but not in front: the id becomes a file name.
func nameInID(name string) string {
	parts := strings.Split(name, ".")
	for i, p := range parts {
		parts[i] = outsideID.ReplaceAllString(p, "-")
	}
	name = strings.Join(parts, ".")
	if strings.HasPrefix(name, ".") {
		return "-" + name[1:]
	}
	return name
}
