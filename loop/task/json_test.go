package task_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnlog/turnlog/loop/task"
)

func TestJSONOfYAML(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"key order", "{ z: 1, a: 2, m: { y: 1, b: 2 } }", `{"z":1,"a":2,"m":{"y":1,"b":2}}`},
		{"big integer", "{ n: 123456789012345678901234567890 }", `{"n":123456789012345678901234567890}`},
		{"numbers as written", "{ a: 1.50, b: -0.0, c: 1e3, d: +5, e: 0x1F, f: .5, g: 1_000 }", `{"a":1.50,"b":-0.0,"c":1e3,"d":5,"e":31,"f":0.5,"g":1000}`},
		{"texts that look like others", `{ a: "1", b: yes, c: 2026-01-31, d: '', e: on }`, `{"a":"1","b":"yes","c":"2026-01-31","d":"","e":"on"}`},
		{"others", "{ a: true, b: null, c: ~, d: [], e: {} }", `{"a":true,"b":null,"c":null,"d":[],"e":{}}`},
		{"html", `{ a: "<b> & \u2028 \" \\" }`, `{"a":"<b> & \u2028 \" \\"}`},
		{"keys that are no text", "{ 1: a, true: b }", `{"1":"a","true":"b"}`},
		{"aliases", "{ a: &x { k: 1 }, b: *x }", `{"a":{"k":1},"b":{"k":1}}`},
		{"merge", "{ a: &x { k: 1, l: 2 }, b: { l: 3, <<: *x } }", `{"a":{"k":1,"l":2},"b":{"l":3,"k":1}}`},
	}
	for _, tt := range tests {
		got := parseOne(t, "version: 1\nmodel: { provider: openai, name: m, params: "+tt.yaml+" }\nprompt: a\n", task.Options{})
		if string(got.Model.Params) != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.name, got.Model.Params, tt.want)
		}
	}
}

func TestNumbersThatJSONCannotHold(t *testing.T) {
	for _, n := range []string{".inf", "-.inf", ".nan", "007"} {
		_, err := task.Parse("t.yaml", []byte("version: 1\nmodel: { provider: openai, name: m, params: { a: "+n+" } }\nprompt: a\n"), task.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "t.yaml:3:50: ") && !strings.HasPrefix(err.Error(), "t.yaml:2:50: ") {
			t.Errorf("%s: %v", n, err)
		}
	}
}

// JSON is YAML: what is written as compact JSON comes back byte for byte.
func TestJSONComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawObject(t, 3)
		yaml := "version: 1\nmodel: { provider: openai, name: m, params: " + want + " }\nprompt: a\n"
		f, err := task.Parse("t.yaml", []byte(yaml), task.Options{})
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if got := string(f.Tasks[0].Model.Params); got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	})
}

// drawObject writes an object with the spaces that YAML needs after colons
// where JSON has none left out: quoted keys need none.
func drawObject(t *rapid.T, depth int) string {
	var parts, seen []string
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		name := rapid.StringMatching(`[a-z0-9 é]{0,6}`).Draw(t, "name")
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		parts = append(parts, quote(name)+":"+drawValue(t, depth-1))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func drawValue(t *rapid.T, depth int) string {
	kinds := []string{"text", "integer", "number", "word"}
	if depth > 0 {
		kinds = append(kinds, "object", "list")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "text":
		return quote(rapid.StringMatching(`[ -#%-~éü☃\n\t]{0,12}`).Draw(t, "text"))
	case "integer":
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})`).Draw(t, "integer")
	case "number":
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,3})\.[0-9]{1,4}(e[+-][0-9]{1,2})?`).Draw(t, "number")
	case "word":
		return rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
	case "list":
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawValue(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return drawObject(t, depth)
}

func quote(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(fmt.Sprint(err))
	}
	return strings.TrimSuffix(out.String(), "\n")
}
