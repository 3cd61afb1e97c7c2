package cmd_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What run and verify print is what the schemas describe.
func TestSchemasDescribeOutput(t *testing.T) {
	for _, name := range []string{"hello", "tools"} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			events := runTurnlog(t, "run", "-q", "--out", out, "../fixtures/tasks/"+name+".yaml")
			schema := compileSchema(t, "events")
			lines := 0
			for line := range strings.Lines(events) {
				validate(t, schema, line)
				lines++
			}
			if lines < 5 {
				t.Errorf("%d events only", lines)
			}
			validate(t, compileSchema(t, "finding"), runTurnlog(t, "verify", "--format", "json", out))
		})
	}
	compileSchema(t, "task")
}

// A schema that accepts anything would describe nothing.
func TestEventsSchemaRefuses(t *testing.T) {
	schema := compileSchema(t, "events")
	for _, line := range []string{
		`{"type":"batch_end"}`, `{"type":"batch_started"}`, `{}`,
		`{"type":"turn_start","task":"a","seq":1,"time":"2030-01-02T03:04:05Z"}`,
		`{"type":"turn_start","task":"a","seq":0,"time":"2030-01-02T03:04:05Z","run":"r1"}`,
		`{"type":"task_end","task":"a","seq":1,"time":"2030-01-02T03:04:05Z","id":"a","status":"great"}`,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		if schema.Validate(value) == nil {
			t.Errorf("accepted: %s", line)
		}
	}
}

func compileSchema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(runTurnlog(t, "schema", name))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // no files, no network
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, doc string) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("%v\n%.300s", err, doc)
	}
}
