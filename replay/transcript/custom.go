package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// NewCustom makes the custom part of an entry with data as JSON, without HTML
// escaping.
func NewCustom(customType string, data any) (*Custom, error) {
	raw, err := JSON(data)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", customType, err)
	}
	return &Custom{CustomType: customType, Data: raw}, nil
}

// JSON encodes v on one line and leaves <, > and & alone: escaping them would
// change raw JSON in v, and with it the digests that are taken of it.
func JSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Decode reads the data of a turnlog entry into a pointer to one of the
// structs of this package: [Run], [Request], [CallIntent], [CallResult],
// [TurnRecord], [End]. Data that names a key twice, or one that differs from a
// known key by case only, is an error: readers disagree about what it says.
func (c *Custom) Decode(dst any) error {
	if c == nil || c.Data == nil {
		return errors.New("decode custom entry: no data")
	}
	if err := exactKeys(c.Data, reflect.TypeOf(dst)); err != nil {
		return fmt.Errorf("decode %s: %w", c.CustomType, err)
	}
	if err := json.Unmarshal(c.Data, dst); err != nil {
		return fmt.Errorf("decode %s: %w", c.CustomType, err)
	}
	return nil
}

// exactKeys checks the keys of an object against the names of a struct's
// fields, which encoding/json matches without case.
func exactKeys(data []byte, dst reflect.Type) error {
	if dst == nil || dst.Kind() != reflect.Pointer || dst.Elem().Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for field := range dst.Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	var p parser
	p.reset(data, nil, false)
	if p.Peek() != '{' {
		return nil // Unmarshal says it
	}
	for o := p.Open(); p.Next(&o); {
		if len(p.notes) > 0 {
			return fmt.Errorf("key %q twice", o.Name)
		}
		for _, name := range names {
			if o.Name != name && strings.EqualFold(o.Name, name) {
				return fmt.Errorf("key %q is not %q", o.Name, name)
			}
		}
		p.Value()
		p.notes = p.notes[:0]
	}
	return nil
}
