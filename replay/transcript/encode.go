package transcript

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// writer appends one JSON object, member by member.
type writer struct{ b []byte }

func (w *writer) open()  { w.b = append(w.b, '{') }
func (w *writer) close() { w.b = append(w.b, '}') }

// key begins a member whose name needs no escaping.
func (w *writer) key(name string) {
	w.separate()
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
}

// foreignKey begins a member with any name.
func (w *writer) foreignKey(name string) {
	w.separate()
	w.b = append(jsonx.AppendString(w.b, name), ':')
}

func (w *writer) separate() {
	if last := w.b[len(w.b)-1]; last != '{' {
		w.b = append(w.b, ',')
	}
}

func (w *writer) string(name, s string) {
	w.key(name)
	w.b = jsonx.AppendString(w.b, s)
}

// text writes a string that is not empty.
func (w *writer) text(name, s string) {
	if s != "" {
		w.string(name, s)
	}
}

func (w *writer) integer(name string, n int64) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writer) bool(name string, v bool) {
	w.key(name)
	w.b = strconv.AppendBool(w.b, v)
}

func (w *writer) float(name string, f float64) {
	w.key(name)
	w.b = appendFloat(w.b, f)
}

// raw writes a value as it is, if there is one.
func (w *writer) raw(name string, v json.RawMessage) {
	if v != nil {
		w.key(name)
		w.b = AppendRaw(w.b, v)
	}
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

func (w *writer) extra(fields []Field) {
	for _, f := range fields {
		if f.Value != nil {
			w.foreignKey(f.Name)
			w.b = AppendRaw(w.b, f.Value)
		}
	}
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

// AppendEntry appends e as one JSON object without line end: Raw if it is
// there, else its fields in the order that pi writes them.
func AppendEntry(dst []byte, e *Entry) []byte {
	if e.Raw != nil {
		return append(dst, e.Raw...)
	}
	w := writer{dst}
	w.open()
	w.string("type", e.Type)
	if e.Header != nil {
		w.header(e)
		w.close()
		return w.b
	}
	w.string("id", e.ID)
	if e.ParentID == "" {
		w.raw("parentId", json.RawMessage("null"))
	} else {
		w.string("parentId", e.ParentID)
	}
	w.text("timestamp", e.Timestamp)
	w.typed(e)
	w.close()
	return w.b
}

// MarshalJSON implements [encoding/json.Marshaler] with [AppendEntry]. Marshal
// writes <, > and & in its own way; a [Writer] keeps them as they are.
func (e Entry) MarshalJSON() ([]byte, error) { return AppendEntry(nil, &e), nil }

// UnmarshalJSON implements [encoding/json.Unmarshaler] with [ParseEntry].
func (e *Entry) UnmarshalJSON(b []byte) (err error) {
	*e, err = ParseEntry(bytes.Clone(b))
	return err
}

func (w *writer) header(e *Entry) {
	h := e.Header
	if h.Version != 0 {
		w.integer("version", int64(h.Version))
	}
	w.string("id", h.ID)
	w.text("timestamp", e.Timestamp)
	w.string("cwd", h.CWD)
	w.text("parentSession", h.ParentSession)
	if g := h.Generator; g != nil {
		w.key("generator")
		w.open()
		w.string("name", g.Name)
		w.string("version", g.Version)
		w.integer("format", int64(g.Format))
		w.close()
	}
	w.extra(h.Extra)
}

// typed writes the members of e's type.
func (w *writer) typed(e *Entry) {
	switch {
	case e.Message != nil:
		w.message("message", e.Message)
	case e.Model != nil:
		w.string("provider", e.Model.Provider)
		w.string("modelId", e.Model.ModelID)
	case e.Type == TypeThinking:
		w.string("thinkingLevel", e.Thinking)
	case e.Compaction != nil:
		w.compaction(e.Compaction)
	case e.Branch != nil:
		w.string("fromId", e.Branch.FromID)
		w.string("summary", e.Branch.Summary)
	case e.Custom != nil:
		w.custom(e.Custom)
	case e.Edit != nil:
		w.string("targetId", e.Edit.TargetID)
		w.replacement(e.Edit.Replacement)
	case e.Label != nil:
		w.string("targetId", e.Label.TargetID)
		w.text("label", e.Label.Label)
	}
}

func (w *writer) compaction(c *Compaction) {
	w.string("summary", c.Summary)
	if c.FirstKeptEntryID == "" && c.FirstKeptIndex > 0 {
		w.integer("firstKeptEntryIndex", int64(c.FirstKeptIndex))
	} else {
		w.string("firstKeptEntryId", c.FirstKeptEntryID)
	}
	w.integer("tokensBefore", c.TokensBefore)
	if c.SystemMessage != nil {
		w.message("systemMessage", c.SystemMessage)
	}
}

func (w *writer) custom(c *Custom) {
	w.string("customType", c.CustomType)
	if c.Message == nil {
		w.raw("data", c.Data)
		return
	}
	w.content(c.Message)
	w.extra(c.Message.Extra)
	w.raw("details", c.Message.Details)
}

func (w *writer) replacement(m *Message) {
	w.key("replacement")
	if m == nil {
		w.b = append(w.b, "null"...)
		return
	}
	w.open()
	w.content(m)
	w.close()
}
