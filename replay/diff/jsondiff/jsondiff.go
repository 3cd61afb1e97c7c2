// Package jsondiff compares decoded JSON. That is nil, bool, string,
// json.Number, []any and map[string]any, as [Decode] gives it; the order of
// members does not matter anywhere, nor how a number is written.
package jsondiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Decode gives the value of raw JSON. Numbers keep their digits. What is not
// JSON is its text, and nothing is nil.
func Decode(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return string(raw)
	}
	return v
}

// Equal reports whether two values are the same.
func Equal(a, b any) bool { return same(a, b, true) }

// Within reports whether all that want has is in got: an object may have more
// members, at any depth; an array may not have more items.
func Within(want, got any) bool { return same(want, got, false) }

func same(want, got any, exactly bool) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || exactly && len(w) != len(g) {
			return false
		}
		for name, v := range w {
			if other, there := g[name]; !there || !same(v, other, exactly) {
				return false
			}
		}
		return true
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, func(x, y any) bool { return same(x, y, exactly) })
	case json.Number:
		g, ok := got.(json.Number)
		return ok && sameNumber(w, g)
	}
	return want == got
}

// Text is a value as JSON on one line.
func Text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v) // decoded JSON always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
