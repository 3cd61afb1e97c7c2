package task

import (
	"bytes"
	"encoding/json"

	"gopkg.in/yaml.v3"
)

// anyJSON reads any value as JSON: keys in file order, numbers with all their
// digits, expressions expanded.
func anyJSON() value[json.RawMessage] {
	return value[json.RawMessage]{
		schema: &schemaNode{},
		decode: func(d *decoder, n *yaml.Node) (json.RawMessage, bool) {
			var out bytes.Buffer
			ok := d.writeJSON(&out, n)
			return out.Bytes(), ok
		},
	}
}

// objectJSON reads a mapping as JSON.
func objectJSON() value[json.RawMessage] {
	return value[json.RawMessage]{
		schema: &schemaNode{Type: "object"},
		decode: func(d *decoder, n *yaml.Node) (json.RawMessage, bool) {
			if n.Kind != yaml.MappingNode {
				d.at(n, "", "want a mapping, found %s", kindName(n))
				return nil, false
			}
			return anyJSON().decode(d, n)
		},
	}
}

// literalJSON is a value as JSON with its expressions as they stand. A scalar
// that JSON cannot hold is its text.
func literalJSON(n *yaml.Node) json.RawMessage {
	var out bytes.Buffer
	writeJSON(&out, n, func(n *yaml.Node) (scalar, bool) {
		s, problem := plainScalar(n)
		if problem != "" {
			s = scalar{kind: stringKind, text: n.Value}
		}
		return s, true
	})
	return out.Bytes()
}

// writeJSON writes a node as compact JSON.
func (d *decoder) writeJSON(out *bytes.Buffer, n *yaml.Node) bool {
	return writeJSON(out, n, func(n *yaml.Node) (scalar, bool) { return d.scalar(n, "a value") })
}

func writeJSON(out *bytes.Buffer, n *yaml.Node, read func(*yaml.Node) (scalar, bool)) bool {
	n = target(n)
	ok := true
	switch n.Kind {
	case yaml.MappingNode:
		out.WriteByte('{')
		for i, m := range members(n) {
			if i > 0 {
				out.WriteByte(',')
			}
			writeText(out, m.name)
			out.WriteByte(':')
			ok = writeJSON(out, m.value, read) && ok
		}
		out.WriteByte('}')
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range n.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			ok = writeJSON(out, item, read) && ok
		}
		out.WriteByte(']')
	default:
		var s scalar
		if s, ok = read(n); ok {
			s.writeJSON(out)
		} else {
			out.WriteString("null") // keeps what is around it well formed
		}
	}
	return ok
}

func (s scalar) writeJSON(out *bytes.Buffer) {
	switch s.kind {
	case nullKind:
		out.WriteString("null")
	case integerKind, numberKind, booleanKind:
		out.WriteString(s.text)
	case listKind:
		out.WriteByte('[')
		for i, item := range s.items {
			if i > 0 {
				out.WriteByte(',')
			}
			item.writeJSON(out)
		}
		out.WriteByte(']')
	default:
		writeText(out, s.text)
	}
}

// writeText writes a JSON string without the escapes that only HTML needs.
func writeText(out *bytes.Buffer, s string) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("task: a string that is no JSON: " + err.Error()) // cannot happen: strings always encode
	}
	out.Truncate(out.Len() - 1) // the encoder's newline
}
