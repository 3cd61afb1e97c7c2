package transcript

import "encoding/json"

// member is a member of an object of the format in both directions: how it is
// read into a T and how it is written. One without read is the second place of
// a member that stands elsewhere in messages of another role.
type member[T any] struct {
	name  string
	read  func(p *parser, o *object, v *T) (fits bool)
	write func(w writer, v *T) writer
}

// table lists the members of an object in the order in which pi writes them.
// Extra takes those that it does not list; without it they are passed over.
type table[T any] struct {
	extra   func(*T) *[]Field
	members []member[T]
}

// member reads the current member of o; false if the table has none of that
// name. The search goes on where the last one ended.
func (t *table[T]) member(p *parser, o *object, v *T) bool {
	if t == nil {
		return false
	}
	for range t.members {
		if o.at >= len(t.members) {
			o.at = 0
		}
		m := &t.members[o.at]
		o.at++
		if m.name == o.Name && m.read != nil {
			m.read(p, o, v)
			return true
		}
	}
	return false
}

// read reads the current member of outer into v if it is an object.
func (t *table[T]) read(p *parser, outer *object, v *T) bool {
	if p.Peek() != '{' {
		return p.misfit(outer)
	}
	for o := p.open(); p.pass(o); {
		*v, o.keeps = *new(T), t.extra != nil
		for p.Next(&o.Object) {
			if !t.member(p, o, v) {
				p.unknown(o)
			}
		}
		if t.extra != nil {
			*t.extra(v) = o.extra
		}
	}
	return true
}

// write writes the members.
func (t *table[T]) write(w writer, v *T) writer {
	if t == nil {
		return w
	}
	for i := range t.members {
		w = t.members[i].write(w, v)
	}
	return w
}

// append appends v as an object.
func (t *table[T]) append(dst []byte, v *T) []byte {
	w := writer{b: dst}
	if t.extra != nil {
		w.extra = *t.extra(v)
	}
	return t.write(w.open(), v).close().b
}

// put writes v as a member.
func (t *table[T]) put(w writer, name string, v *T) writer {
	w = w.key(name)
	w.b = t.append(w.b, v)
	return w
}

// when makes a member be written under a condition only.
func (m member[T]) when(holds func(*T) bool) member[T] {
	write := m.write
	m.write = func(w writer, v *T) writer {
		if holds(v) {
			return write(w, v)
		}
		return w
	}
	return m
}

func (m member[T]) writeOnly() member[T] {
	m.read = nil
	return m
}

// then adds what follows from a value that fits.
func (m member[T]) then(do func(*T)) member[T] {
	read := m.read
	m.read = func(p *parser, o *object, v *T) bool {
		fits := read(p, o, v)
		if fits {
			do(v)
		}
		return fits
	}
	return m
}

// of is a member that a field of T holds.
func of[T, V any](name string, at func(*T) *V, read func(*parser, *object, *V) bool, write func(writer, string, V) writer) member[T] {
	return member[T]{
		name,
		func(p *parser, o *object, v *T) bool { return read(p, o, at(v)) },
		func(w writer, v *T) writer { return write(w, name, *at(v)) },
	}
}

// maybe is of for a pointer, nil without the member.
func maybe[T, V any](name string, at func(*T) **V, read func(*parser, *object, *V) bool, write func(writer, string, V) writer) member[T] {
	return member[T]{name, func(p *parser, o *object, v *T) bool {
		to := new(V)
		fits := read(p, o, to)
		if fits {
			*at(v) = to
		}
		return fits
	}, func(w writer, v *T) writer {
		if from := *at(v); from != nil {
			return write(w, name, *from)
		}
		return w
	}}
}

// text is a string that is written if it is not empty.
func text[T any](name string, at func(*T) *string) member[T] {
	return of(name, at, (*parser).field, writer.text)
}

// always is a string that is always written, except where the file had a value
// of another type, which is passed through. So is what the next three make.
func always[T any](name string, at func(*T) *string) member[T] {
	return of(name, at, (*parser).field, writer.always)
}

func flag[T any](name string, at func(*T) *bool) member[T] {
	return of(name, at, (*parser).boolean, writer.flag)
}

func amount[T any](name string, at func(*T) *float64) member[T] {
	return of(name, at, (*parser).float, writer.amount)
}

func number[T any](name string, at func(*T) *int64) member[T] {
	return of(name, at, (*parser).integer, writer.integer)
}

// free is a value that the format does not interpret, written if it is there.
func free[T any](name string, at func(*T) *json.RawMessage) member[T] {
	return of(name, at, (*parser).free, writer.raw)
}

// nested is a message, written if it is there.
func nested[T any](name string, at func(*T) **Message) member[T] {
	return of(name, at, (*parser).nested, writer.nested)
}

// inner is an object that is always written.
func inner[T, E any](name string, at func(*T) *E, t *table[E]) member[T] {
	return member[T]{
		name, func(p *parser, o *object, v *T) bool { return t.read(p, o, at(v)) },
		func(w writer, v *T) writer { return t.put(w, name, at(v)) },
	}
}

// list is an array of objects, written if it is not empty. Items that are no
// objects are passed over.
func list[T, E any](name string, at func(*T) *[]E, items *table[E]) member[T] {
	read := func(p *parser, o *object, to *[]E) bool {
		if p.Peek() != '[' {
			return p.misfit(o)
		}
		for n := 0; p.Item(n); n++ {
			if p.Peek() != '{' {
				p.Value()
				continue
			}
			*to = append(*to, *new(E))
			items.read(p, o, &(*to)[len(*to)-1])
		}
		return true
	}
	return of(name, at, read, func(w writer, name string, list []E) writer {
		return array(w, name, list, items.append)
	})
}

// array writes a list, if it is not empty.
func array[E any](w writer, name string, list []E, item func([]byte, *E) []byte) writer {
	for i := range list {
		if i == 0 {
			w = w.key(name)
			w.b = append(w.b, '[')
		} else {
			w.b = append(w.b, ',')
		}
		w.b = item(w.b, &list[i])
	}
	if len(list) > 0 {
		w.b = append(w.b, ']')
	}
	return w
}
