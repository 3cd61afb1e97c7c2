package task_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop/task"
)

// parseOne reads a file that makes one task.
func parseOne(t *testing.T, yaml string, o task.Options) task.Task {
	t.Helper()
	if o.Env == nil {
		o.Env = testEnv
	}
	f, err := task.Parse("dir/t.yaml", []byte(yaml), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Tasks) != 1 {
		t.Fatalf("%d tasks, want 1", len(f.Tasks))
	}
	return f.Tasks[0]
}

func TestExpressionsInText(t *testing.T) {
	const vars = `vars:
  name: { default: Ada }
  limit: { type: integer, default: 20 }
  unset: {}
  note: { type: file, default: note.md }
  places: { type: list, default: [a, b] }
`
	tests := []struct{ text, want string }{
		{"plain", "plain"},
		{"${{ vars.name }}", "Ada"},
		{"${{vars.name}}", "Ada"},
		{"dear ${{ vars.name }}, ${{ vars.limit }} of ${{ task.id }}", "dear Ada, 20 of t"},
		{"${{ vars.limit }}", "20"},
		{"${{ env.HOST }}", "example.com"},
		{"[${{ env.EMPTY }}]", "[]"},
		{"[${{ env.EMPTY ?? 'x' }}]", "[]"},
		{"${{ env.NOBODY ?? 'it''s }} ?? here' }}", "it's }} ?? here"},
		{"${{ env.NOBODY ?? vars.unset ?? vars.name }}", "Ada"},
		{"${{ '${{' }} stays", "${{ stays"},
		{"$${{ vars.limit }} {{ x }} ${y}", "$20 {{ x }} ${y}"},
		{"batch ${{ batch.id }}", "batch b7"},
		{"${{ vars.note }}", "from dir/note.md: ${{ vars.name }}"}, // expanded once
	}
	for _, tt := range tests {
		yaml := head + vars + "system: " + string(mustJSON(t, tt.text)) + "\n"
		got := parseOne(t, yaml, task.Options{BatchID: "b7", ReadFile: func(path string) ([]byte, error) {
			return []byte("from " + path + ": ${{ vars.name }}"), nil
		}})
		if got.System != tt.want {
			t.Errorf("%s: got %q, want %q", tt.text, got.System, tt.want)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return []byte(out.String())
}

// What is exactly one expression keeps the type of the variable where there
// are types, and is text where text is wanted.
func TestExpressionTypes(t *testing.T) {
	got := parseOne(t, `version: 1
vars:
  n: { type: integer, default: 12345678901234567890 }
  f: { type: number, default: 0.10 }
  b: { type: boolean, default: true }
  s: { default: "7" }
  l: { type: list, default: [a, 2] }
  turns: { type: integer, default: 3 }
model:
  provider: openai
  name: m
  params: { n: "${{ vars.n }}", f: "${{ vars.f }}", b: "${{ vars.b }}", s: "${{ vars.s }}", l: "${{ vars.l }}", mixed: "${{ vars.turns }} x", e: "${{ env.TURNS }}" }
finish: { limits: { turns: "${{ vars.turns }}", tool_calls: "${{ env.TURNS }}" } }
prompt: "${{ vars.n }}"
`, task.Options{})
	want := `{"n":12345678901234567890,"f":0.10,"b":true,"s":"7","l":["a",2],"mixed":"3 x","e":"7"}`
	if string(got.Model.Params) != want {
		t.Errorf("params\n got %s\nwant %s", got.Model.Params, want)
	}
	if l := got.Finish.Limits; l.Turns != 3 || l.ToolCalls != 7 {
		t.Errorf("limits %+v", l)
	}
	if got.Prompts[0] != "12345678901234567890" {
		t.Errorf("prompt %q", got.Prompts[0])
	}
}

func TestVariablesFromOutside(t *testing.T) {
	const yaml = head + `vars:
  s: { default: a }
  n: { type: integer, default: 1 }
  l: { type: list, default: [] }
  f: { type: file }
x-unused: "${{ not expanded"
system: ${{ vars.s }} ${{ vars.n }} ${{ vars.f }}
tools: [{ name: x, description: x, run: [./x], effects: none }]
assert:
  - tool_args: { name: x, args: { l: "${{ vars.l }}" } }
`
	vars, err := task.ParseVars("vars.yaml", []byte("s: \"007\"\nn: 5\nl: [a, 1, true]\nf: text.md\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"s": "007", "n": "5", "l": `["a",1,true]`, "f": "text.md"}, vars); diff != "" {
		t.Errorf("ParseVars (-want +got):\n%s", diff)
	}
	got := parseOne(t, yaml, task.Options{Vars: vars, ReadFile: func(path string) ([]byte, error) { return []byte("<" + path + ">"), nil }})
	if want := "007 5 <text.md>"; got.System != want {
		t.Errorf("system %q, want %q", got.System, want)
	}
	if want := `{"l":["a","1","true"]}`; string(got.Assert[0].ToolArgs.Args) != want {
		t.Errorf("list %s, want %s", got.Assert[0].ToolArgs.Args, want)
	}
	if got := string(got.Extra["x-unused"]); got != `"${{ not expanded"` {
		t.Errorf("x- key %s", got)
	}

	for _, tt := range []struct{ name, value, want string }{
		{"n", "x", `t.yaml:5:3: the value given to "n": want type integer, found "x"`},
		{"nn", "1", `t.yaml:5:3: a value is given to "nn", which is not declared under vars (variables are: n)`},
	} {
		_, err := task.Parse("t.yaml", []byte(head+"vars:\n  n: { type: integer }\n"), task.Options{Vars: map[string]string{tt.name: tt.value}})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s=%s: got %v, want %s", tt.name, tt.value, err, tt.want)
		}
	}
}

func TestModelOverride(t *testing.T) {
	const named = "version: 1\nmodel: a\nmodels:\n  a: { provider: scripted, responses: [] }\n  b: { provider: openai, name: big }\nprompt: x\n"
	const inline = "version: 1\nmodel: { provider: openai, name: big }\nprompt: x\n"
	tests := []struct{ yaml, model, want, err string }{
		{named, "", "a/", ""},
		{named, "b", "b/big", ""},
		{inline, "small", "/small", ""},
		{named, "c", "", `t.yaml:2:8: there is no model "c", and provider scripted has no models to choose from (models are: a, b)`},
	}
	for _, tt := range tests {
		f, err := task.Parse("t.yaml", []byte(tt.yaml), task.Options{Model: tt.model})
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("-m %s: got %v, want %s", tt.model, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("-m %s: %v", tt.model, err)
			continue
		}
		if m := f.Tasks[0].Model; m.Label+"/"+m.Name != tt.want {
			t.Errorf("-m %s: %s/%s, want %s", tt.model, m.Label, m.Name, tt.want)
		}
	}
	_, err := task.Parse("t.yaml", []byte(inline), task.Options{Providers: []string{"scripted", "recorded"}})
	if want := "t.yaml:2:8: the provider openai is not available (there are: scripted, recorded)"; err == nil || err.Error() != want {
		t.Errorf("provider: got %v, want %s", err, want)
	}
}
