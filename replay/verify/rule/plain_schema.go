package rule

import (
	"encoding/json"
	"slices"
)

// plainSchema is the part of an object's schema that most declarations consist
// of: which properties there must be, and the type of each. Arguments that
// pass it are valid; all others go to the real validator. Three quarters of
// the cost of the rule were the validator's, and nearly all arguments are fine.
type plainSchema struct {
	required []string
	types    map[string]string // "" accepts anything, absent means that the validator must look
	closed   bool              // no other properties
}

// newPlainSchema reads a schema; nil if it is not plain.
func newPlainSchema(document json.RawMessage) *plainSchema {
	var members map[string]json.RawMessage
	if json.Unmarshal(document, &members) != nil {
		return nil
	}
	s := &plainSchema{types: make(map[string]string)}
	for name, value := range members {
		if !s.member(name, value) {
			return nil
		}
	}
	return s
}

// member takes in a keyword; false if it is not plain.
func (s *plainSchema) member(name string, value json.RawMessage) bool {
	switch name {
	case "type":
		return string(value) == `"object"`
	case "required":
		return json.Unmarshal(value, &s.required) == nil
	case "additionalProperties":
		s.closed = string(value) == "false"
		return s.closed || string(value) == "true"
	case "properties":
		var properties map[string]map[string]json.RawMessage
		if json.Unmarshal(value, &properties) != nil {
			return false
		}
		for property, schema := range properties {
			if typ, ok := plainType(schema); ok {
				s.types[property] = typ
			} else {
				s.types[property] = "?"
			}
		}
		return true
	}
	return annotates(name)
}

// plainType is the type that a property must have, ok if nothing else is asked
// of it.
func plainType(schema map[string]json.RawMessage) (typ string, ok bool) {
	for name, value := range schema {
		switch {
		case name == "type":
			if json.Unmarshal(value, &typ) != nil {
				return "", false
			}
		case !annotates(name):
			return "", false
		}
	}
	return typ, true
}

func annotates(keyword string) bool {
	switch keyword {
	case "description", "title", "default", "examples", "$comment":
		return true
	}
	return false
}

// accepts reports whether arguments are surely valid.
func (s *plainSchema) accepts(args []byte) bool {
	if s == nil {
		return false
	}
	found := 0
	c := cursor{b: args}
	if !c.take('{') {
		return false
	}
	for first := true; !c.take('}'); first = false {
		if !first && !c.take(',') {
			return false
		}
		key, ok := c.key()
		if !ok || !c.take(':') {
			return false
		}
		want, known := s.types[key]
		is := c.value()
		if is == "" || !known && s.closed || known && !fits(is, want) {
			return false
		}
		if slices.Contains(s.required, key) {
			found++
		}
	}
	return found == len(s.required)
}

func fits(is, want string) bool {
	return want == "" || is == want || is == "integer" && want == "number"
}

// cursor reads JSON that a parser has accepted already.
type cursor struct {
	b []byte
	i int
}

func (c *cursor) take(want byte) bool {
	for c.i < len(c.b) && (c.b[c.i] == ' ' || c.b[c.i] == '\n' || c.b[c.i] == '\t' || c.b[c.i] == '\r') {
		c.i++
	}
	if c.i == len(c.b) || c.b[c.i] != want {
		return false
	}
	c.i++
	return true
}

// key reads a key without escapes.
func (c *cursor) key() (string, bool) {
	if !c.take('"') {
		return "", false
	}
	from := c.i
	for c.i < len(c.b) && c.b[c.i] != '"' {
		if c.b[c.i] == '\\' {
			return "", false
		}
		c.i++
	}
	c.i++
	return string(c.b[from : min(c.i, len(c.b))-1]), c.i <= len(c.b)
}

// value skips a value and returns its type, "" for what is not plain to see:
// a number with a fraction may be an integer all the same.
func (c *cursor) value() string {
	c.take(0) // white space
	if c.i == len(c.b) {
		return ""
	}
	switch first := c.b[c.i]; first {
	case '"':
		c.i = stringEnd(c.b, c.i)
		return "string"
	case '{':
		c.skip()
		return "object"
	case '[':
		c.skip()
		return "array"
	default:
		return c.word(first)
	}
}

func (c *cursor) word(first byte) string {
	typ := "integer"
	switch first {
	case 't', 'f':
		typ = "boolean"
	case 'n':
		typ = "null"
	}
	for ; c.i < len(c.b); c.i++ {
		switch c.b[c.i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r':
			return typ
		case '.', 'e', 'E':
			if typ == "integer" {
				return ""
			}
		}
	}
	return ""
}

// skip skips an object or a list.
func (c *cursor) skip() {
	for depth := 0; c.i < len(c.b); {
		switch c.b[c.i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			c.i = stringEnd(c.b, c.i) - 1
		}
		c.i++
		if depth == 0 {
			return
		}
	}
}
