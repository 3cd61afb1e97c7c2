package task_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
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
