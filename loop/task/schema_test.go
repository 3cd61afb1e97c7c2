package task_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/turnlog/turnlog/loop/task"
)

var update = flag.Bool("update", false, "write the golden files")

// validate checks a YAML document against the schema of task files.
func validate(t *testing.T, data []byte) error {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(task.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("task.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("task.json")
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(tree)
}

func TestSchemaGolden(t *testing.T) {
	golden(t, "schema.json", task.Schema())
}

// golden compares with a file of testdata; -update writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Every key has a description, every object is closed, every $ref leads
// somewhere.
func TestSchemaIsComplete(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(task.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	defs, _ := root["$defs"].(map[string]any)
	keys := 0
	var walk func(path string, node any)
	walk = func(path string, node any) {
		list, _ := node.([]any)
		for i, item := range list {
			walk(fmt.Sprintf("%s/%d", path, i), item)
		}
		object, _ := node.(map[string]any)
		if ref, ok := object["$ref"].(string); ok && defs[strings.TrimPrefix(ref, "#/$defs/")] == nil {
			t.Errorf("%s: %s leads nowhere", path, ref)
		}
		if properties, ok := object["properties"].(map[string]any); ok && object["additionalProperties"] != nil {
			for name, p := range properties {
				keys++
				p := p.(map[string]any)
				_, isTool := properties["bash"]
				if p["description"] == nil && !isTool {
					t.Errorf("%s: %s has no description", path, name)
				}
			}
		}
		for name, child := range object {
			walk(path+"/"+name, child)
		}
	}
	walk("", root)
	if keys < 120 {
		t.Errorf("%d keys, the format has more", keys)
	}
}

// What Parse accepts, the schema accepts; what has an unknown key, both refuse.
func TestSchemaAgreesWithParse(t *testing.T) {
	tests := []struct {
		yaml string
		ok   bool
	}{
		{"", true},
		{"steering: [a, { text: b, when: { after_turn: 2 } }]", true},
		{"steering: { mode: skip_remaining, queue: all, messages: [a] }", true},
		{"tools: [read, { bash: {} }, { name: a, description: b, run: [c] }, { mcp: d, command: [e] }]", true},
		{"finish: { limits: { turns: \"${{ env.TURNS }}\", tokens: 1.5M } }", true},
		{"permissions: { allow: [read, { bash: { command: \"git *\" } }] }", true},
		{"assert: [{ not: { not: { status: ok } } }, { tool_sequence: { steps: [read, { name: bash, args: {} }] } }]", true},
		{"x-a: 1\ntool_execution: { x-b: 2 }", true},
		{"tool_execution: { mod: parallel }", false},
		{"tool_execution: { mode: none }", false},
		{"finish: { limits: { turns: 0 } }", false},
		{"finish: { limits: { wall: 10 } }", false},
		{"prompts: [a]", false},
		{"assert: [{ status: ok, text: { contains: a } }]", false},
		{"tools: [{ bash: {}, read: {} }]", false},
		{"batch: { concurrency: -1 }", false},
	}
	for _, tt := range tests {
		data := []byte(head + tt.yaml + "\n")
		_, err := task.Parse("t.yaml", data, task.Options{Env: testEnv})
		if (err == nil) != tt.ok {
			t.Errorf("%s: Parse: %v", tt.yaml, err)
		}
		if err := validate(t, data); (err == nil) != tt.ok {
			t.Errorf("%s: schema: %v", tt.yaml, err)
		}
	}
}
