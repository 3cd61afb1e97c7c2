package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPlainSchema compares the quick look with the validator: what it accepts
// must be valid. That it accepts what most calls look like is checked as well,
// or it would be of no use.
func TestPlain(t *testing.T) {
	const document = `{"type":"object","description":"d","properties":{"path":{"type":"string","description":"d"},"n":{"type":"integer"},
		"x":{"type":"number"},"flag":{"type":"boolean"},"list":{"type":"array"},"map":{"type":"object"},"any":{},"kind":{"enum":["a","b"]},"few":{"type":"integer","minimum":-1,"maximum":2},
		"least":{"minimum":3},"deep":{"type":"array","items":{"type":"string"}}},"required":["path","few"]}`
	plain := NewPlain(json.RawMessage(document))
	if plain == nil || !plain.Accepts([]byte(`{ "path" : "a\"}b", "n":-3, "x":7 , "flag":true, "list":[{"a":"]"}], "map":{"}":[]}, "any":null, "more":1, "kind":"b", "few":0, "least":"x"}`)) {
		t.Fatal("a plain call is not accepted")
	}
	validators := map[string]*Schema{}
	rapid.Check(t, func(rt *rapid.T) {
		closed := rapid.SampledFrom([]string{"", `,"additionalProperties":false`, `,"additionalProperties":true`}).Draw(rt, "closed")
		text := document[:len(document)-1] + closed + "}"
		if validators[text] == nil {
			compiled, err := Compile(json.RawMessage(text))
			if err != nil {
				rt.Fatal(err)
			}
			validators[text] = compiled
		}
		var args strings.Builder
		args.WriteString("{")
		for i := range rapid.IntRange(0, 6).Draw(rt, "members") {
			if i > 0 {
				args.WriteString(",")
			}
			key := rapid.SampledFrom([]string{"path", "n", "x", "flag", "list", "map", "any", "kind", "few", "least", "deep", "other", "p\\u0061th"}).Draw(rt, "key")
			value := rapid.SampledFrom([]string{`"a"`, `"b\u0062"`, `"\u0062"`, "3", "2", "0.5", "-0", "12345678901234567890", "1", "1.0", "-2", "1e2", "true", "null", "[1]", `{"a":1}`, `"a\\\""`, " 3 "}).Draw(rt, "value")
			args.WriteString(fmt.Sprintf(`"%s":%s`, key, value))
		}
		args.WriteString("}")
		slow := *validators[text]
		slow.plain = nil
		want, wantErr := slow.Convert(json.RawMessage(args.String()))
		got, err := validators[text].Convert(json.RawMessage(args.String()))
		if string(got) != string(want) || (err == nil) != (wantErr == nil) {
			rt.Fatalf("%s becomes %s (%v) at a quick look, else %s (%v)", args.String(), got, err, want, wantErr)
		}
		if NewPlain(json.RawMessage(text)).Accepts([]byte(args.String())) {
			if err := validators[text].Validate(json.RawMessage(args.String())); err != nil {
				rt.Fatalf("%s is accepted: %v", args.String(), err)
			}
		}
	})
	for _, document := range []string{`{"type":"object","minProperties":1}`, `{"$ref":"#/x"}`, `{"type":["object"]}`, `true`, `{"properties":{"a":true}}`} {
		if NewPlain(json.RawMessage(document)) != nil {
			t.Errorf("%s counts as plain", document)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte(`{"a":"b`))
	f.Add([]byte(`{"`))
	f.Add([]byte(`{"a":"`))
	f.Fuzz(func(_ *testing.T, args []byte) {
		p := NewPlain(json.RawMessage(`{"properties":{"a":{"type":"string","enum":["b"]},"n":{"minimum":1}}}`))
		p.Accepts(args)
		p.settles(args)
	})
}
