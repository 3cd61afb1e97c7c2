package task

import (
	"bytes"
	"encoding/json"
	"strings"

	builtins "github.com/turnlog/turnlog/loop/tool/builtin"
)

// schemaNode is the part of JSON Schema that describes task files. Fields are
// written in this order.
type schemaNode struct {
	Schema               string        `json:"$schema,omitempty"`
	ID                   string        `json:"$id,omitempty"`
	Title                string        `json:"title,omitempty"`
	Ref                  string        `json:"$ref,omitempty"`
	Description          string        `json:"description,omitempty"`
	Type                 string        `json:"type,omitempty"`
	Const                any           `json:"const,omitempty"`
	Enum                 []string      `json:"enum,omitempty"`
	Pattern              string        `json:"pattern,omitempty"`
	MinLength            int           `json:"minLength,omitempty"`
	Minimum              *int          `json:"minimum,omitempty"`
	ExclusiveMinimum     *int          `json:"exclusiveMinimum,omitempty"`
	Maximum              *int          `json:"maximum,omitempty"`
	Items                *schemaNode   `json:"items,omitempty"`
	MinItems             int           `json:"minItems,omitempty"`
	Properties           *definitions  `json:"properties,omitempty"`
	PatternProperties    *definitions  `json:"patternProperties,omitempty"`
	AdditionalProperties any           `json:"additionalProperties,omitempty"` // *schemaNode or false
	MinProperties        int           `json:"minProperties,omitempty"`
	MaxProperties        int           `json:"maxProperties,omitempty"`
	Required             []string      `json:"required,omitempty"`
	AnyOf                []*schemaNode `json:"anyOf,omitempty"`
	OneOf                []*schemaNode `json:"oneOf,omitempty"`
	Defs                 *definitions  `json:"$defs,omitempty"`
}

// definitions are named schemas in a fixed order.
type definitions []definition

type definition struct {
	name   string
	schema *schemaNode
}

// MarshalJSON writes an object with its keys in order.
func (l definitions) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range l {
		if i > 0 {
			out.WriteByte(',')
		}
		writeText(&out, one.name)
		out.WriteByte(':')
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false) // descriptions are for people
		if err := enc.Encode(one.schema); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// ref points at one of the named schemas.
func ref(name string) *schemaNode { return &schemaNode{Ref: "#/$defs/" + name} }

// orExpression allows an expression where a value is wanted that is no free
// text.
func orExpression(s *schemaNode) *schemaNode {
	return &schemaNode{AnyOf: []*schemaNode{s, ref("expression")}}
}

// described is a copy with a description.
func (s *schemaNode) described(doc string) *schemaNode {
	c := *s
	c.Description = doc
	return &c
}

// objectSchema describes a table.
func (o object[T]) objectSchema() *schemaNode {
	s := &schemaNode{
		Type:                 "object",
		PatternProperties:    &definitions{{"^x-", &schemaNode{Description: "Kept and ignored."}}},
		AdditionalProperties: false,
	}
	var properties definitions
	for _, k := range o.keys {
		properties = append(properties, definition{k.name, k.schema.described(k.doc)})
		if k.required {
			s.Required = append(s.Required, k.name)
		}
	}
	s.Properties = &properties
	return s
}

// Schema is the JSON Schema (draft 2020-12) of task files, made of the same
// tables that read them. It says less than Parse: what keys mean together is
// in the descriptions.
func Schema() []byte {
	files, tasks := fileTable().objectSchema(), taskTable().objectSchema()
	properties := append(*files.Properties, *tasks.Properties...)
	root := &schemaNode{
		Schema:               "https://json-schema.org/draft/2020-12/schema",
		Title:                "turnlog task file",
		Type:                 "object",
		Properties:           &properties,
		PatternProperties:    files.PatternProperties,
		AdditionalProperties: false,
		Required:             append(files.Required, tasks.Required...),
		OneOf:                []*schemaNode{{Required: []string{"prompt"}}, {Required: []string{"prompts"}}},
		Defs: &definitions{
			{"expression", &schemaNode{Type: "string", Pattern: `\$\{\{.*\}\}`, Description: "Expanded before anything starts: ${{ vars.x }} ${{ env.NAME }} ${{ env.NAME ?? 'default' }} ${{ matrix.x }} ${{ task.id }} ${{ batch.id }}"}},
			{"model", modelTable().objectSchema()},
			{"response", answerTable().objectSchema()},
			{"tool", toolSchema()},
			{"assertion", oneKey(assertionTable().objectSchema())},
		},
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("task: the schema is no JSON: " + err.Error()) // a constant of the program
	}
	return out.Bytes()
}

// oneKey says that exactly one of the keys is there.
func oneKey(s *schemaNode) *schemaNode {
	s.MinProperties, s.MaxProperties = 1, 1
	return s
}

// toolSchema lists the shapes of a tool.
func toolSchema() *schemaNode {
	var settings definitions
	names := builtins.All().Names()
	for _, name := range names {
		settings = append(settings, definition{name, builtinTable(name).objectSchema()})
	}
	return &schemaNode{AnyOf: []*schemaNode{
		{Type: "string", MinLength: 1, Description: "A built-in tool: " + strings.Join(names, " ") + ". In add also the name of a tool that was removed."},
		oneKey(&schemaNode{Type: "object", Description: "A built-in tool with settings.", Properties: &settings, AdditionalProperties: false}),
		programTable().objectSchema().described("A program as a tool."),
		mcpTable().objectSchema().described("The tools of an MCP server."),
	}}
}
