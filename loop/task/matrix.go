package task

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnlog/turnlog/loop/task/internal/table"
)

// Bounds of what one file may expand to.
const (
	maxTasks  = 10_000
	maxRepeat = 10_000
	maxWork   = 20_000_000 // tasks times values of the file: some seconds
)

// matrix is what makes many tasks out of one.
type matrix struct {
	place   *table.Node
	axes    []axis
	exclude []exclusion
}

type (
	axis      = table.Entry[[]table.Scalar]
	exclusion = []table.Entry[table.Scalar]
)

func matrixValue() table.Value[matrix] {
	return table.Mapping("matrix", matrix{}, func(k *table.Keys, m *matrix) {
		table.To(k, "axes", axes(), &m.axes, "The axes with their values; there is a task for every combination.").Must()
		table.To(k, "exclude", table.List(table.Entries(table.Plain())), &m.exclude, "Combinations to leave out; an axis that is not named matches with all its values.")
	}).Then(func(d *table.Decoder, n *table.Node, m *matrix) {
		m.place = n
		m.checkExclude(d, n)
	})
}

// axes reads the axes in file order, which is the order in task ids.
func axes() table.Value[[]axis] {
	entries := table.Entries(table.Scalars()).Then(func(d *table.Decoder, _ *table.Node, got *[]axis) {
		for _, a := range *got {
			if !variableName.MatchString(a.Name) {
				d.At(a.Key, "", "%s is no name for an axis", table.Quote(a.Name))
			}
		}
	})
	schema := func() *table.Schema {
		s := entries.Schema()
		s.MinProperties = 1
		return s
	}
	return table.Value[[]axis]{Schema: schema, Decode: func(d *table.Decoder, n *table.Node) ([]axis, bool) {
		found := n.Describe()
		if n.IsMapping() {
			found = "an empty one"
		}
		if !n.IsMapping() || len(n.Content) == 0 {
			d.At(n, "write axes: { model: [a, b] }", "axes is a mapping of names to lists, found %s", found)
			return nil, false
		}
		return entries.Decode(d, n)
	}}
}

// checkExclude reports exclusions that can never match.
func (m *matrix) checkExclude(d *table.Decoder, n *table.Node) {
	var names []string
	for _, a := range m.axes {
		names = append(names, a.Name)
	}
	for i, ex := range m.exclude {
		if len(ex) == 0 {
			d.At(n.Find("exclude").Items()[i], "", "an exclusion without axes would leave nothing")
		}
		for _, one := range ex {
			at := slices.Index(names, one.Name)
			if at < 0 {
				d.At(one.Key, table.Suggest(one.Name, names, "axes"), "the matrix has no axis %s", table.Quote(one.Name))
			} else if values := table.Texts(m.axes[at].Got); !slices.Contains(values, one.Got.Text) {
				d.At(one.Value, table.Suggest(one.Got.Text, values, "values"), "the axis %s has no value %s", one.Name, table.Quote(one.Got.Text))
			}
		}
	}
}

// combination is one task to be made.
type combination struct {
	values []table.Scalar // one per axis
	sample int            // 0 without repeat
}

// combine expands matrix and repeat: the last axis changes fastest, samples of
// a cell follow each other.
func (r *reader) combine() (out []combination) {
	place := cmp.Or(r.matrix.place, r.Root)
	cells := r.matrix.cells()
	count := len(cells) * max(r.repeat, 1)
	switch {
	case cells == nil || count > maxTasks:
		r.At(place, "", "matrix and repeat make more than %d tasks", maxTasks)
		return nil
	case count == 0:
		r.At(place, "", "the matrix excludes all its tasks")
	case count*r.Size > maxWork:
		r.At(place, "", "%d tasks of a file with %d values are too much", count, r.Size)
		return nil
	}
	for _, c := range cells {
		for sample := range max(r.repeat, 1) {
			if r.repeat > 1 {
				sample++
			}
			out = append(out, combination{c, sample})
		}
	}
	return out
}

// cells gives the product of the axes without what is excluded; nil if it is
// larger than maxTasks.
func (m matrix) cells() [][]table.Scalar {
	cells := [][]table.Scalar{nil}
	for _, a := range m.axes {
		if len(cells)*len(a.Got) > maxTasks {
			return nil
		}
		var next [][]table.Scalar
		for _, c := range cells {
			for _, v := range a.Got {
				next = append(next, append(slices.Clone(c), v))
			}
		}
		cells = next
	}
	return slices.DeleteFunc(cells, m.excludes)
}

// excludes says whether a cell is left out.
func (m matrix) excludes(cell []table.Scalar) bool {
	return slices.ContainsFunc(m.exclude, func(ex exclusion) bool {
		return !slices.ContainsFunc(ex, func(one table.Entry[table.Scalar]) bool {
			at := slices.IndexFunc(m.axes, func(a axis) bool { return a.Name == one.Name })
			return cell[at].Text != one.Got.Text
		})
	})
}

var outsideID = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// maxID leaves room for .try12.jsonl in a file name of 255 bytes.
const maxID = 200

// id names a task: its name, the values in axis order, the sample.
func (c combination) id(name string) string {
	parts := strings.Split(name, ".") // a name keeps its dots
	for _, v := range c.values {
		parts = append(parts, v.Text)
	}
	if c.sample > 0 {
		parts = append(parts, "r"+strconv.Itoa(c.sample))
	}
	for i, p := range parts {
		parts[i] = outsideID.ReplaceAllString(p, "-")
	}
	id := strings.Join(parts, ".")
	if strings.HasPrefix(id, ".") {
		return "-" + id[1:] // it becomes a file name
	}
	return id
}

// checkIDs reports tasks of the file that would share their files.
func (r *reader) checkIDs(tasks []Task) {
	place := cmp.Or(r.matrix.place, r.Root)
	seen := map[string]bool{}
	for _, t := range tasks {
		if seen[t.ID] {
			r.At(place, "values may differ in letters, digits, _ and - only", "two tasks have the id %q", t.ID)
		}
		if len(t.ID) > maxID {
			r.At(place, "", "the task id has %d bytes, at most %d fit into a file name", len(t.ID), maxID)
		}
		seen[t.ID] = true
	}
}
