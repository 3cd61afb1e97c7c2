package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnlog/turnlog/cmd"
)

// What run and verify print is what the schemas describe.
func TestSchemasDescribeOutput(t *testing.T) {
	for _, name := range []string{"hello", "tools", "denied", "matrix", "output", "passing", "program"} {
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

// What happens only now and then is described as well: commands and their
// answers, requests and tasks that are tried again, notes.
func TestEventsSchemaDescribesTheRare(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "t.yaml"), `version: 1
prompt: go
model: { provider: openai, name: m, base_url: "http://127.0.0.1:1/v1", api_key_env: NO_KEY, retry: { attempts: 2, initial: 1ms, max: 1ms } }
tools: [{ mcp: absent, command: [no-such-program-anywhere], required: false }]
batch: { retries: 1 }
`)
	t.Setenv("NO_KEY", "k")
	var out, errs strings.Builder
	code := cmd.Main(t.Context(), []string{"run", "--control", "-", "--out", filepath.Join(dir, "out"), filepath.Join(dir, "t.yaml")},
		cmd.Streams{In: strings.NewReader(`{"id":{"n":1},"type":"steer","message":"hi"}` + "\n{\n"), Out: &out, Err: &errs, Getenv: os.Getenv})
	if code != 3 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	schema := compileSchema(t, "events")
	seen := map[string]bool{}
	for line := range strings.Lines(out.String()) {
		validate(t, schema, line)
		kind, _, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		seen[kind] = true
	}
	for _, kind := range []string{"response", "queue_update", "auto_retry_start", "auto_retry_end", "task_retry", "task_note"} {
		if !seen[kind] {
			t.Errorf("no %s in\n%s", kind, out.String())
		}
	}
}

// A schema that accepts anything would describe nothing.
func TestEventsSchemaRefuses(t *testing.T) {
	schema := compileSchema(t, "events")
	for _, line := range []string{
		`{"type":"batch_end"}`, `{"type":"batch_started"}`, `{}`,
		`{"type":"turn_start","task":"a","seq":1,"time":"2030-01-02T03:04:05Z"}`,
		`{"type":"turn_start","task":"a","seq":0,"time":"2030-01-02T03:04:05Z","run":"r1"}`,
		`{"type":"response","command":"steer"}`, `{"type":"queue_update","task":"a","seq":1,"time":"2030-01-02T03:04:05Z","steering":[1],"followUp":[]}`,
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
