package task

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// value is one kind of value of a task file: how to read it and what the JSON
// Schema says of it. Both stand in one place so that they cannot drift apart.
type value[V any] struct {
	schema *schemaNode
	decode func(d *decoder, n *yaml.Node) (V, bool) // false: reported, or not known yet
}

// key is a key of an object of type T.
type key[T any] struct {
	name     string
	doc      string
	required bool
	schema   *schemaNode
	set      func(d *decoder, n *yaml.Node, t *T)
}

// to makes a key whose value goes into a field.
func to[T, V any](name string, v value[V], field func(*T) *V, doc string) key[T] {
	return key[T]{
		name:   name,
		doc:    doc,
		schema: v.schema,
		set: func(d *decoder, n *yaml.Node, t *T) {
			if got, ok := v.decode(d, n); ok {
				*field(t) = got
			}
		},
	}
}

// must makes a key required.
func (k key[T]) must() key[T] {
	k.required = true
	return k
}

// object is the table of the keys that a mapping may have.
type object[T any] struct {
	name  string // in messages, with article: "a model"
	keys  []key[T]
	check func(d *decoder, n *yaml.Node, t *T) // what the keys mean together; may be nil
}

// decode reads a mapping into t.
func (o object[T]) decode(d *decoder, n *yaml.Node, t *T) bool {
	if n.Kind != yaml.MappingNode {
		d.at(n, "", "%s is a mapping, found %s", o.name, kindName(n))
		return false
	}
	before := len(d.list)
	d.unknownKeys(n, o.name, o.names())
	o.fill(d, n, t)
	if o.check != nil && len(d.list) == before {
		o.check(d, n, t)
	}
	return len(d.list) == before
}

// fill reads the keys of the table and leaves the others alone.
func (o object[T]) fill(d *decoder, n *yaml.Node, t *T) {
	found := map[string]member{}
	for _, m := range members(n) {
		found[m.name] = m
	}
	for _, k := range o.keys {
		m, ok := found[k.name]
		switch {
		case ok:
			k.set(d, m.value, t)
		case k.required && !misspelt(n, k.name, o.names()):
			d.at(n, "", "%s needs the key %q", o.name, k.name)
		}
	}
}

func (o object[T]) names() []string {
	names := make([]string, len(o.keys))
	for i, k := range o.keys {
		names[i] = k.name
	}
	return names
}

// value makes a kind of value of the table. Start holds the defaults.
func (o object[T]) value(start T) value[T] {
	return value[T]{
		schema: o.objectSchema(),
		decode: func(d *decoder, n *yaml.Node) (T, bool) {
			t := start
			ok := o.decode(d, n, &t)
			return t, ok
		},
	}
}

// unknownKeys reports the keys of a mapping that are not among names. Keys
// that start with x- are anybody's.
func (d *decoder) unknownKeys(n *yaml.Node, what string, names []string) {
	valid := map[string]bool{}
	for _, name := range names {
		valid[name] = true
	}
	for _, m := range members(n) {
		if valid[m.name] || isExtension(m.name) {
			continue
		}
		if isKeyName(m.name) && m.value.Kind == yaml.ScalarNode && m.value.Value != "" {
			continue // the guard said more about it
		}
		d.at(m.key, suggest(m.name, names, "its keys"), "unknown key %s in %s", quoted(m.name), what)
	}
}

// misspelt says whether an unknown key of a mapping most likely means this one,
// so that one mistake is not reported as two.
func misspelt(n *yaml.Node, name string, names []string) bool {
	return slices.ContainsFunc(members(n), func(m member) bool {
		near, ok := nearest(m.name, names)
		return ok && near == name && !slices.Contains(names, m.name) && !isExtension(m.name)
	})
}

// isExtension says whether a key is kept and ignored.
func isExtension(name string) bool { return len(name) > 2 && name[:2] == "x-" }

// list makes a list out of a kind of value. One value instead of a list is an
// error, not a list of one.
func list[V any](v value[V]) value[[]V] {
	return value[[]V]{
		schema: &schemaNode{Type: "array", Items: v.schema},
		decode: func(d *decoder, n *yaml.Node) ([]V, bool) {
			if n.Kind != yaml.SequenceNode {
				d.at(n, "", "want a list, found %s", kindName(n))
				return nil, false
			}
			out, all := make([]V, 0, len(n.Content)), true
			for _, item := range n.Content {
				got, ok := v.decode(d, target(item))
				all = all && ok
				out = append(out, got)
			}
			return out, all
		},
	}
}

// nonEmpty refuses an empty list.
func nonEmpty[V any](v value[[]V]) value[[]V] {
	s := *v.schema
	s.MinItems = 1
	return value[[]V]{
		schema: &s,
		decode: func(d *decoder, n *yaml.Node) ([]V, bool) {
			got, ok := v.decode(d, n)
			if ok && len(got) == 0 {
				d.at(n, "", "the list is empty")
				return nil, false
			}
			return got, ok
		},
	}
}

// pointer makes a value optional: nil where the key is absent.
func pointer[V any](v value[V]) value[*V] {
	return value[*V]{
		schema: v.schema,
		decode: func(d *decoder, n *yaml.Node) (*V, bool) {
			got, ok := v.decode(d, n)
			return &got, ok
		},
	}
}

// mapOf reads a mapping with free keys, in file order, into a map.
func mapOf[V any](v value[V]) value[map[string]V] {
	return value[map[string]V]{
		schema: &schemaNode{Type: "object", AdditionalProperties: v.schema},
		decode: func(d *decoder, n *yaml.Node) (map[string]V, bool) {
			if n.Kind != yaml.MappingNode {
				d.at(n, "", "want a mapping, found %s", kindName(n))
				return nil, false
			}
			out, all := map[string]V{}, true
			for _, m := range members(n) {
				got, ok := v.decode(d, m.value)
				all = all && ok
				out[m.name] = got
			}
			return out, all
		},
	}
}
