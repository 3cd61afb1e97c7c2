package transcript

import (
	"bytes"
	"encoding/json"
	"math"
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
			w.b = AppendRaw(w.b, f.Value)
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
	w.b = appendFloat(w.b, f)
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
	w.b = AppendRaw(w.b, v)
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
func AppendRaw(dst []byte, v json.RawMessage) []byte {
	if bytes.IndexByte(v, '\n') < 0 && bytes.IndexByte(v, '\r') < 0 {
		return append(dst, v...)
	}
	b := bytes.NewBuffer(dst)
	if json.Compact(b, v) != nil {
		return AppendString(dst, string(v))
	}
	return b.Bytes()
}

// AppendString appends s as a JSON string. Only what JSON demands is escaped,
// so <, > and & stay; bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte { return jsonx.AppendString(dst, s) }

// appendFloat writes a number as JavaScript and encoding/json do. JSON has no
// infinities and no NaN: they become null, as in JSON.stringify.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return append(dst, "null"...)
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	n := len(dst)
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if k := len(dst); format == 'e' && k-n >= 4 && dst[k-4] == 'e' && dst[k-3] == '-' && dst[k-2] == '0' {
		dst[k-2] = dst[k-1] // e-09 to e-9
		dst = dst[:k-1]
	}
	return dst
}

func has(fields []Field, name string) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name })
}
