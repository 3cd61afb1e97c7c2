// Package schema validates the arguments of tool calls against the JSON
// Schema a tool was declared with, and converts what can be converted without
// loss.
//
// Models get types wrong in ways that carry no doubt: "5" for 5, one value for
// a list of one. Those are converted. Whatever would be a guess is refused
// with an error that the model can act on, because a wrong guess about an
// amount or an id runs a tool on something nobody asked for:
//
//	converted   "5" → 5   5 → "5"   "true" → true   true → "true"
//	            x → [x]   null for an optional property → absent
//	            a const or enum member that reads the same
//	refused     null → "null", 0, false   "" → 0   "3.7" → 3   2.9 → 2   1 → true
//
// A value that is valid already is never touched, so converting twice changes
// nothing. Integers keep every digit, objects keep the order of their keys,
// defaults are not inserted.
//
// Nothing is ever loaded: a $ref leads to another place of the same document,
// or nowhere, and then only calls that reach it are refused. Patterns are
// RE2; one that RE2 cannot express (lookahead, backreferences) is not checked,
// and [Schema.Warnings] says so.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema. It may be used by several goroutines.
type Schema struct {
	plain      *Plain // a quick look; nil if the schema says more than it can see
	compiled   *jsonschema.Schema
	document   *value            // as declared, for the order of properties
	unresolved map[string]string // JSON pointer of a schema → the $ref that leads nowhere
	warnings   []string
}

// location is the address that documents are compiled under; nothing is
// fetched from it.
const location = "schema:parameters"

// Compile prepares a schema document; an empty one accepts everything. The
// draft is the one that $schema names; a document without it is tried as
// 2020-12, then draft 7, then draft 4, because many tools are declared in the
// older ones without saying so. The error says what is wrong with the document.
func Compile(document json.RawMessage) (*Schema, error) {
	if len(document) == 0 {
		document = json.RawMessage(`{}`)
	}
	root, err := parse(bytes.Clone(document))
	if err != nil {
		return nil, fmt.Errorf("read JSON Schema: %w", err)
	}
	if path, found := root.oversized(); found {
		return nil, fmt.Errorf("read JSON Schema: number out of range at %s", dotted(path))
	}
	p := prepare(root)
	compiled, err := compile(p.document, p.hasDraft)
	if err != nil {
		return nil, fmt.Errorf("compile JSON Schema: %w", err)
	}
	return &Schema{plain: NewPlain(document), compiled: compiled, document: root, unresolved: p.unresolved, warnings: p.warnings}, nil
}

func compile(document any, hasDraft bool) (*jsonschema.Schema, error) {
	drafts := []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}
	if hasDraft {
		drafts = drafts[:1]
	}
	var first error
	for _, draft := range drafts {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(draft)
		c.AssertFormat()
		c.UseLoader(refuse{})
		c.UseRegexpEngine(compilePattern)
		if err := c.AddResource(location, document); err != nil {
			return nil, err
		}
		s, err := c.Compile(location)
		if err == nil {
			return s, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// refuse is a loader that loads nothing. The library's own one opens file:
// addresses: a $ref to file:///etc/passwd did read that file.
type refuse struct{}

func (refuse) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the document and is not loaded", url)
}

// Unresolved reports whether a $ref leads nowhere. Arguments that reach it are
// refused, which says nothing about them.
func (s *Schema) Unresolved() bool { return len(s.unresolved) > 0 }

// Warnings lists the parts of the document that are not enforced, in document
// order.
func (s *Schema) Warnings() []string { return slices.Clone(s.warnings) }

// Validate reports whether args are valid as they are: nil, a
// [*ValidationError], or an error for something that is not JSON.
func (s *Schema) Validate(args json.RawMessage) error {
	if s.plain.settles(args) {
		return nil
	}
	v, err := read(args)
	if err != nil {
		return err
	}
	return s.check(v)
}

// Convert applies the conversions that lose nothing and validates the result.
// It returns args itself when nothing had to change; absent arguments count as
// {}. Of a key that occurs twice, the last value stands, as in every JSON
// decoder that tools use, and the result has it once.
func (s *Schema) Convert(args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage(`{}`)
	}
	if s.plain.settles(args) {
		return args, nil
	}
	v, err := read(args)
	if err != nil {
		return nil, err
	}
	if err = s.check(v); err != nil {
		c := converter{work: allowance(v)}
		v = c.convert(v, s.compiled)
		if !c.changed {
			return nil, err
		}
		err = s.check(v)
	}
	if err != nil {
		return nil, err
	}
	if v.raw != nil {
		return args, nil
	}
	return v.append(nil), nil
}

// read parses arguments within the bounds that keep validation cheap.
func read(args json.RawMessage) (*value, error) {
	v, err := parse(args)
	if err != nil {
		return nil, err
	}
	if path, found := v.oversized(); found {
		return nil, &ValidationError{Problems: []Problem{{Path: dotted(path), Message: "number out of range"}}}
	}
	return v, nil
}

func (s *Schema) check(v *value) error {
	if !allowance(v).spend(v, s.compiled) {
		return &ValidationError{Problems: []Problem{{Path: "root", Message: "nested too deep for the alternatives of the schema"}}}
	}
	err := s.compiled.Validate(v.any())
	if err == nil {
		return nil
	}
	failed, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	return s.explain(failed, v)
}
