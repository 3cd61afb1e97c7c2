package schema

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// Plain is the part of an object's schema that most declarations consist of:
// which properties there must be, and what each may be. Arguments that pass it
// are valid; all others are for the real validator. Nearly all arguments are
// fine, and a look costs a fifth of a validation. A nil Plain accepts nothing.
type Plain struct {
	required   []string // at most 64
	properties map[string]plainProperty
	closed     bool // no other properties
}

// plainProperty is what a property may be. The zero value accepts nothing: the
// validator must look.
type plainProperty struct {
	plain    bool
	typ      string   // "" accepts any
	min, max int64    // of integers
	words    []string // all that a string may be; nil accepts any
}

// NewPlain reads a schema; nil if it is not plain.
func NewPlain(document json.RawMessage) *Plain {
	var members map[string]json.RawMessage
	if json.Unmarshal(document, &members) != nil {
		return nil
	}
	s := &Plain{properties: make(map[string]plainProperty)}
	for name, value := range members {
		if !s.member(name, value) {
			return nil
		}
	}
	return s
}

// member takes in a keyword; false if it is not plain.
func (s *Plain) member(name string, value json.RawMessage) bool {
	switch name {
	case "type":
		return string(value) == `"object"`
	case "required":
		return json.Unmarshal(value, &s.required) == nil && len(s.required) <= 64
	case "additionalProperties":
		s.closed = string(value) == "false"
		return s.closed || string(value) == "true"
	case "properties":
		var properties map[string]map[string]json.RawMessage
		if json.Unmarshal(value, &properties) != nil {
			return false
		}
		for property, schema := range properties {
			s.properties[property] = newPlainProperty(schema)
		}
		return true
	}
	return annotates(name)
}

func newPlainProperty(schema map[string]json.RawMessage) plainProperty {
	p := plainProperty{plain: true, min: math.MinInt64, max: math.MaxInt64}
	for name, value := range schema {
		var err error
		switch name {
		case "type":
			err = json.Unmarshal(value, &p.typ)
		case "minimum":
			err = json.Unmarshal(value, &p.min)
		case "maximum":
			err = json.Unmarshal(value, &p.max)
		case "enum":
			err = json.Unmarshal(value, &p.words)
		default:
			p.plain = p.plain && annotates(name)
		}
		if err != nil {
			return plainProperty{}
		}
	}
	return p
}

func annotates(keyword string) bool {
	switch keyword {
	case "description", "title", "default", "examples", "$comment":
		return true
	}
	return false
}

// Accepts reports whether arguments, which must be JSON, are surely valid.
func (s *Plain) Accepts(args []byte) bool { return s != nil && s.accepts(args, false) }

// settles reports whether bytes are arguments that are surely valid and that no
// conversion would touch: values that hold others, long numbers and repeated
// keys are for the validator to see.
func (s *Plain) settles(args []byte) bool {
	return s != nil && s.accepts(args, true)
}

func (s *Plain) accepts(args []byte, flat bool) bool {
	var found uint64 // a bit for each required property
	var in jsonx.Scanner
	in.Reset(args, false) // what is not UTF-8 is no declared key
	if in.Peek() != '{' {
		return false
	}
	var keys []string
	for o := in.Open(); in.Next(&o); {
		want, known := s.properties[o.Name]
		is, literal := plainType(in.Peek(), in.Value())
		if is == "" || !known && s.closed || known && !want.accepts(is, literal) {
			return false
		}
		if flat {
			if !settled(is, literal) || len(keys) == maxSettled || slices.Contains(keys, o.Name) {
				return false
			}
			keys = append(keys, o.Name)
		}
		if i := slices.Index(s.required, o.Name); i >= 0 {
			found |= 1 << i
		}
	}
	in.End()
	return !in.Failed && found == 1<<len(s.required)-1
}

// maxSettled is how many keys are compared with each other.
const maxSettled = 16

func settled(is string, literal []byte) bool {
	switch is {
	case "object", "array":
		return false
	case "integer":
		return len(literal) < 19
	}
	return true
}

// accepts reports whether a value of type is is surely valid.
func (p *plainProperty) accepts(is string, literal []byte) bool {
	if !p.plain || p.typ != "" && p.typ != is && (p.typ != "number" || is != "integer") {
		return false
	}
	if is == "integer" && (p.min != math.MinInt64 || p.max != math.MaxInt64) {
		n, err := strconv.ParseInt(string(literal), 10, 64)
		if err != nil || n < p.min || n > p.max {
			return false
		}
	}
	// A word with an escape in it is no word of the list, for the validator to see.
	return p.words == nil || is == "string" && len(literal) > 1 && slices.Contains(p.words, string(literal[1:len(literal)-1]))
}

// plainType is the type of a value, "" for what is not plain to see: a number
// with a fraction may be an integer all the same.
func plainType(first byte, value []byte) (typ string, literal []byte) {
	switch first {
	case '"':
		typ = "string"
	case '{':
		typ = "object"
	case '[':
		typ = "array"
	case 't', 'f':
		typ = "boolean"
	case 'n':
		typ = "null"
	default:
		if !bytes.ContainsAny(value, ".eE") {
			typ = "integer"
		}
	}
	return typ, value
}
