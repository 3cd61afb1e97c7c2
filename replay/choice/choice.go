// Package choice picks from tables by name: the one table of each kind of
// thing that a flag, a file or an argument names.
package choice

import (
	"fmt"
	"strings"
)

// Table has a row for each name, in the order in which people see them.
type Table[T any] []Row[T]

// Row is what a name stands for.
type Row[T any] struct {
	Name  string
	Value T
}

// Names lists the names.
func (t Table[T]) Names() []string {
	names := make([]string, len(t))
	for i, r := range t {
		names[i] = r.Name
	}
	return names
}

// Get returns the value of a name, if there is one.
func (t Table[T]) Get(name string) (value T, ok bool) {
	for _, r := range t {
		if r.Name == name {
			return r.Value, true
		}
	}
	return value, false
}

// Find returns the value of a name, or an error that lists the known ones. kind
// says what is named.
func (t Table[T]) Find(kind, name string) (T, error) {
	value, ok := t.Get(name)
	if !ok {
		return value, fmt.Errorf("unknown %s %q (known: %s)", kind, name, strings.Join(t.Names(), ", "))
	}
	return value, nil
}
