package table

import "slices"

// Raw is a value that is read elsewhere.
func Raw() Value[*Node] {
	return Value[*Node]{
		Schema: func() *Schema { return &Schema{} },
		Decode: func(_ *Decoder, n *Node) (*Node, bool) { return n, true },
	}
}

// Convert makes another value out of what was read.
func Convert[S, V any](v Value[S], convert func(S) V) Value[V] {
	return Value[V]{v.Schema, func(d *Decoder, n *Node) (V, bool) {
		got, ok := v.Decode(d, n)
		return convert(got), ok
	}}
}

// Optional makes a value optional: nil where the key is absent.
func Optional[V any](v Value[V]) Value[*V] {
	return Convert(v, func(got V) *V { return &got })
}

// Either is a mapping, or a short form that stands for one.
func Either[V any](short, long Value[V]) Value[V] {
	return Value[V]{
		Schema: func() *Schema { return &Schema{AnyOf: []*Schema{short.Schema(), long.Schema()}} },
		Decode: func(d *Decoder, n *Node) (V, bool) {
			if n.IsMapping() {
				return long.Decode(d, n)
			}
			return short.Decode(d, n)
		},
	}
}

// List makes a list out of a kind of value. One value instead of a list is an
// error, not a list of one.
func List[V any](v Value[V]) Value[[]V] {
	return Value[[]V]{
		Schema: func() *Schema { return &Schema{Type: "array", Items: v.Schema()} },
		Decode: func(d *Decoder, n *Node) ([]V, bool) {
			if !n.IsList() {
				d.At(n, "", "want a list, found %s", n.Describe())
				return nil, false
			}
			out, all := make([]V, 0, len(n.Content)), true
			for _, item := range n.Items() {
				got, ok := v.Decode(d, item)
				all = all && ok
				out = append(out, got)
			}
			return out, all
		},
	}
}

// Some is a list that is not empty.
func Some[V any](v Value[V]) Value[[]V] {
	list := List(v)
	return list.Then(func(d *Decoder, n *Node, got *[]V) {
		if len(*got) == 0 {
			d.At(n, "", "the list is empty")
		}
	}).Says(func() *Schema {
		s := list.Schema()
		s.MinItems = 1
		return s
	})
}

// Scalars is a list of different scalars, or an expression that names a list.
func Scalars() Value[[]Scalar] {
	list := Some(Plain()).Then(func(d *Decoder, n *Node, got *[]Scalar) {
		for i, value := range Texts(*got) {
			if slices.Contains(Texts((*got)[:i]), value) {
				d.At(n.Items()[i], "", "the value %s is here twice", Quote(value))
			}
		}
	})
	schema := func() *Schema { return orExpression(list.Schema()) }
	return Value[[]Scalar]{schema, func(d *Decoder, n *Node) ([]Scalar, bool) {
		if !n.IsScalar() {
			return list.Decode(d, n)
		}
		s, ok := d.Scalar(n, "a list")
		if ok && len(s.Items) == 0 {
			d.At(n, "", "want a list that is not empty, found %s", s.Describe())
		}
		return s.Items, len(s.Items) > 0
	}}
}

// Texts are scalars as they are written.
func Texts(list []Scalar) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.Text
	}
	return out
}

// Entry is a member of a mapping with free keys.
type Entry[V any] struct {
	Member
	Got V
}

// Entries reads a mapping with free keys in file order.
func Entries[V any](v Value[V]) Value[[]Entry[V]] {
	return Value[[]Entry[V]]{
		Schema: func() *Schema { return &Schema{Type: "object", AdditionalProperties: v.Schema()} },
		Decode: func(d *Decoder, n *Node) (out []Entry[V], all bool) {
			if !n.IsMapping() {
				d.At(n, "", "want a mapping, found %s", n.Describe())
				return nil, false
			}
			all = true
			for _, m := range n.Members() {
				got, ok := v.Decode(d, m.Value)
				all = all && ok
				out = append(out, Entry[V]{m, got})
			}
			return out, all
		},
	}
}

// Map reads a mapping with free keys.
func Map[V any](v Value[V]) Value[map[string]V] {
	return Convert(Entries(v), func(list []Entry[V]) map[string]V {
		out := map[string]V{}
		for _, e := range list {
			out[e.Name] = e.Got
		}
		return out
	})
}
