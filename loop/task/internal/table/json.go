package table

import (
	"bytes"
	"encoding/json"
)

// JSON reads any value as JSON: keys in file order, numbers with all their
// digits, expressions expanded.
func JSON() Value[json.RawMessage] {
	return Value[json.RawMessage]{
		Schema: func() *Schema { return &Schema{} },
		Decode: func(d *Decoder, n *Node) (json.RawMessage, bool) {
			all := true
			raw := encode(n, func(n *Node) Scalar {
				s, ok := d.Scalar(n, "a value")
				if !ok {
					all, s.Kind = false, NullKind // keeps what is around it well formed
				}
				return s
			})
			return raw, all
		},
	}
}

// JSONObject reads a mapping as JSON.
func JSONObject() Value[json.RawMessage] {
	return Value[json.RawMessage]{
		Schema: func() *Schema { return &Schema{Type: "object"} },
		Decode: func(d *Decoder, n *Node) (json.RawMessage, bool) {
			if !n.IsMapping() {
				d.At(n, "", "want a mapping, found %s", n.Describe())
				return nil, false
			}
			return JSON().Decode(d, n)
		},
	}
}

// Literal is a value as JSON with its expressions as they stand. A scalar that
// JSON cannot hold is its text.
func (n *Node) Literal() json.RawMessage {
	return encode(n, func(n *Node) Scalar {
		s, problem := n.plain()
		if problem != "" {
			s = Scalar{Kind: TextKind, Text: n.Value}
		}
		return s
	})
}

// encode writes a value as compact JSON.
func encode(n *Node, read func(*Node) Scalar) json.RawMessage {
	var out bytes.Buffer
	var write func(n *Node)
	write = func(n *Node) {
		switch {
		case n.IsMapping():
			enclose(&out, "{}", n.Members(), func(m Member) {
				encodeAny(&out, m.Name)
				out.WriteByte(':')
				write(m.Value)
			})
		case n.IsList():
			enclose(&out, "[]", n.Items(), write)
		default:
			read(n).encode(&out)
		}
	}
	write(n)
	return out.Bytes()
}

func (s Scalar) encode(out *bytes.Buffer) {
	switch s.Kind {
	case NullKind:
		out.WriteString("null")
	case IntegerKind, NumberKind, BooleanKind:
		out.WriteString(s.Text)
	case ListKind:
		enclose(out, "[]", s.Items, func(item Scalar) { item.encode(out) })
	default:
		encodeAny(out, s.Text)
	}
}

// enclose writes what a list or an object has between its brackets.
func enclose[E any](out *bytes.Buffer, brackets string, items []E, write func(E)) {
	out.WriteByte(brackets[0])
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		write(item)
	}
	out.WriteByte(brackets[1])
}

// encodeAny writes JSON without the escapes that only HTML needs.
func encodeAny(out *bytes.Buffer, v any) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("table: " + err.Error()) // cannot happen: texts and schemas always encode
	}
	out.Truncate(out.Len() - 1) // the encoder's newline
}
