// Package table reads a YAML file by tables of its keys. A [Value] says how one
// kind of value is read and what the JSON Schema says of it, a [Key] where it
// stands and where it goes: one table decodes, describes and finds the places
// of mistakes. Tables are written like a flag.FlagSet, with [To] for each key.
// The package knows nothing of what the keys mean.
//
// A [Decoder] reports everything that is wrong in a file, each problem with its
// line, its column and what was probably meant.
package table

import "slices"

// Value is one kind of value: how to read it, and what the JSON Schema says of
// it. Both stand in one place so that they cannot drift apart.
type Value[V any] struct {
	Schema func() *Schema
	Decode func(d *Decoder, n *Node) (V, bool) // false: reported, or not known yet
}

// Then adds a check of what could be read; it may complete the value. A value
// that it reports is not valid.
func (v Value[V]) Then(check func(d *Decoder, n *Node, got *V)) Value[V] {
	return Value[V]{v.Schema, func(d *Decoder, n *Node) (V, bool) {
		got, ok := v.Decode(d, n)
		if !ok {
			return got, false
		}
		before := d.reports
		check(d, n, &got)
		return got, d.reports == before
	}}
}

// Says replaces the schema.
func (v Value[V]) Says(schema func() *Schema) Value[V] {
	v.Schema = schema
	return v
}

// Keys is the table of the keys that a mapping may have, in the order in which
// they are read.
type Keys struct{ list []*Key }

// Key is a key of a mapping.
type Key struct {
	name, doc string
	required  bool
	schema    func() *Schema
	set       func(d *Decoder, n *Node)
}

// To adds a key whose value goes into a field.
func To[V any](keys *Keys, name string, v Value[V], field *V, doc string) *Key {
	k := &Key{name: name, doc: doc, schema: v.Schema, set: func(d *Decoder, n *Node) {
		if got, ok := v.Decode(d, n); ok {
			*field = got
		}
	}}
	keys.list = append(keys.list, k)
	return k
}

// Only adds a key whose value is read for its mistakes.
func Only[V any](keys *Keys, name string, v Value[V], doc string) *Key {
	return To(keys, name, v, new(V), doc)
}

// Must makes the key required.
func (k *Key) Must() { k.required = true }

// Mapping is a mapping with the keys that are listed for its fields. Name is
// what messages call it, with its article: "a model". Start holds the defaults.
func Mapping[T any](name string, start T, keys func(*Keys, *T)) Value[T] {
	return Value[T]{
		Schema: func() *Schema {
			var all Keys
			keys(&all, new(T))
			return all.Schema()
		},
		Decode: func(d *Decoder, n *Node) (T, bool) {
			t := start
			if !n.IsMapping() {
				d.At(n, "", "%s is a mapping, found %s", name, n.Describe())
				return t, false
			}
			before := d.reports
			var all Keys
			keys(&all, &t)
			d.Unknown(n, name, &all)
			d.Fill(n, name, &all)
			return t, d.reports == before
		},
	}
}

// Fill reads the keys of a mapping and leaves others alone.
func (d *Decoder) Fill(n *Node, name string, keys *Keys) {
	found := map[string]*Node{}
	for _, m := range n.Members() {
		found[m.Name] = m.Value
	}
	for _, k := range keys.list {
		if value := found[k.name]; value != nil {
			k.set(d, value)
		} else if k.required && !n.Misspells(k.name, keys) {
			d.At(n, "", "%s needs the key %q", name, k.name)
		}
	}
}

// Unknown reports the keys of a mapping that are in none of the tables. Keys
// that start with x- are anybody's, and those that hold a secret have a message
// already.
func (d *Decoder) Unknown(n *Node, name string, tables ...*Keys) {
	var valid []string
	for _, keys := range tables {
		valid = append(valid, keys.names()...)
	}
	for _, m := range n.Members() {
		if !slices.Contains(valid, m.Name) && !IsExtension(m.Name) && !HoldsKey(m.Name, m.Value) {
			d.At(m.Key, Suggest(m.Name, valid, "its keys"), "unknown key %s in %s", Quote(m.Name), name)
		}
	}
}

// Misspells says whether an unknown key of the mapping most likely means this
// one of the keys, so that one mistake is not reported as two.
func (n *Node) Misspells(name string, keys *Keys) bool {
	valid := keys.names()
	return slices.ContainsFunc(n.Members(), func(m Member) bool {
		near, ok := Nearest(m.Name, valid)
		return ok && near == name && !slices.Contains(valid, m.Name) && !IsExtension(m.Name)
	})
}

func (k *Keys) names() []string {
	list := make([]string, len(k.list))
	for i, key := range k.list {
		list[i] = key.name
	}
	return list
}

// IsExtension says whether a key is kept and ignored.
func IsExtension(name string) bool { return len(name) > 2 && name[:2] == "x-" }
