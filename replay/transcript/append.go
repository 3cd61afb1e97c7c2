package transcript

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// writer appends one JSON object, member by member, and at its end those that
// the format does not interpret.
type writer struct {
	b     []byte
	extra []Field
}

func (w writer) open() writer {
	w.b = append(w.b, '{')
	return w
}

func (w writer) close() writer {
	w = w.fields(w.extra)
	w.b = append(w.b, '}')
	return w
}

// key begins a member whose name needs no escaping.
func (w writer) key(name string) writer {
	if last := w.b[len(w.b)-1]; last != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
	return w
}

// fields writes members with any name.
func (w writer) fields(fields []Field) writer {
	for _, f := range fields {
		if f.Value != nil {
			w = w.foreignKey(f.Name)
			w.b = jsonx.AppendLine(w.b, f.Value)
		}
	}
	return w
}

func (w writer) foreignKey(name string) writer {
	if last := w.b[len(w.b)-1]; last != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(jsonx.AppendString(w.b, name), ':')
	return w
}

func (w writer) string(name, s string) writer {
	w = w.key(name)
	w.b = jsonx.AppendString(w.b, s)
	return w
}

func (w writer) text(name, s string) writer {
	if s == "" {
		return w
	}
	return w.string(name, s)
}

func (w writer) always(name, s string) writer {
	if s == "" && has(w.extra, name) {
		return w
	}
	return w.string(name, s)
}

func (w writer) flag(name string, v bool) writer {
	if !v && has(w.extra, name) {
		return w
	}
	w = w.key(name)
	w.b = strconv.AppendBool(w.b, v)
	return w
}

func (w writer) amount(name string, f float64) writer {
	if f == 0 && has(w.extra, name) {
		return w
	}
	w = w.key(name)
	w.b = jsonx.AppendFloat(w.b, f)
	return w
}

func (w writer) integer(name string, n int64) writer {
	w = w.key(name)
	w.b = strconv.AppendInt(w.b, n, 10)
	return w
}

func (w writer) whole(name string, n int) writer { return w.integer(name, int64(n)) }

// raw writes a value as it is, if there is one.
func (w writer) raw(name string, v json.RawMessage) writer {
	if v == nil {
		return w
	}
	w = w.key(name)
	w.b = jsonx.AppendLine(w.b, v)
	return w
}

func (w writer) nested(name string, m *Message) writer {
	if m == nil {
		return w
	}
	w = w.key(name)
	w.b = AppendMessage(w.b, m)
	return w
}

// AppendRaw appends a JSON value byte for byte if it is on one line. Line ends
// between its tokens would tear the record that it becomes part of, so a value
// that has some is compacted: key order and numbers stay. What is no JSON
// becomes a string of itself.
func AppendRaw(dst []byte, v json.RawMessage) []byte { return jsonx.AppendLine(dst, v) }

// AppendString appends s as a JSON string. Only what JSON demands is escaped,
// so <, > and & stay; bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte { return jsonx.AppendString(dst, s) }

func has(fields []Field, name string) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name })
}
