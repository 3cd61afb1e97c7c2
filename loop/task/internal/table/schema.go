package table

import (
	"bytes"
	"encoding/json"
)

// Schema is the part of JSON Schema that describes tables. Fields are written
// in this order.
type Schema struct {
	Schema               string    `json:"$schema,omitempty"`
	Title                string    `json:"title,omitempty"`
	Ref                  string    `json:"$ref,omitempty"`
	Description          string    `json:"description,omitempty"`
	Type                 string    `json:"type,omitempty"`
	Const                any       `json:"const,omitempty"`
	Enum                 []string  `json:"enum,omitempty"`
	Pattern              string    `json:"pattern,omitempty"`
	MinLength            int       `json:"minLength,omitempty"`
	Minimum              *int      `json:"minimum,omitempty"`
	ExclusiveMinimum     *int      `json:"exclusiveMinimum,omitempty"`
	Maximum              *int      `json:"maximum,omitempty"`
	Items                *Schema   `json:"items,omitempty"`
	MinItems             int       `json:"minItems,omitempty"`
	Properties           Schemas   `json:"properties,omitempty"`
	PatternProperties    Schemas   `json:"patternProperties,omitempty"`
	AdditionalProperties any       `json:"additionalProperties,omitempty"` // *Schema or false
	MinProperties        int       `json:"minProperties,omitempty"`
	MaxProperties        int       `json:"maxProperties,omitempty"`
	Required             []string  `json:"required,omitempty"`
	AnyOf                []*Schema `json:"anyOf,omitempty"`
	OneOf                []*Schema `json:"oneOf,omitempty"`
	Defs                 Schemas   `json:"$defs,omitempty"`
}

// Schemas are named schemas in a fixed order.
type Schemas []Named

// Named is a schema with its name.
type Named struct {
	Name   string
	Schema *Schema
}

// MarshalJSON writes an object with its keys in order.
func (l Schemas) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	enclose(&out, "{}", l, func(one Named) {
		encodeAny(&out, one.Name)
		out.WriteByte(':')
		encodeAny(&out, one.Schema)
	})
	return out.Bytes(), nil
}

// Document is the schema as a file.
func (s *Schema) Document() []byte {
	var raw, out bytes.Buffer
	encodeAny(&raw, s)
	raw.WriteByte('\n')
	if err := json.Indent(&out, raw.Bytes(), "", "  "); err != nil {
		panic("table: " + err.Error()) // cannot happen: it was just encoded
	}
	return out.Bytes()
}

// Ref points at one of the named schemas.
func Ref(name string) func() *Schema {
	return func() *Schema { return &Schema{Ref: "#/$defs/" + name} }
}

// Schema describes a mapping with these keys.
func (k *Keys) Schema() *Schema {
	s := &Schema{
		Type:                 "object",
		PatternProperties:    Schemas{{"^x-", &Schema{Description: "Kept and ignored."}}},
		AdditionalProperties: false,
	}
	for _, key := range k.list {
		s.Properties = append(s.Properties, Named{key.name, key.schema().Described(key.doc)})
		if key.required {
			s.Required = append(s.Required, key.name)
		}
	}
	return s
}

// Described adds a description.
func (s *Schema) Described(doc string) *Schema {
	s.Description = doc
	return s
}

// OneKey says that exactly one of the keys is there.
func (s *Schema) OneKey() *Schema {
	s.MinProperties, s.MaxProperties = 1, 1
	return s
}

// orExpression allows an expression where a value is wanted that is no free
// text.
func orExpression(s *Schema) *Schema {
	return &Schema{AnyOf: []*Schema{s, Ref("expression")()}}
}

func filledSchema() *Schema { return &Schema{Type: "string", MinLength: 1} }
