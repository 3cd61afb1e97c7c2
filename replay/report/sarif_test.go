package report

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/turnlog/turnlog/replay/verify"
)

// consumer returns the path of something that scripts/npm.sh installs.
func consumer(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../.cache/npm/node_modules", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed: scripts/npm.sh does", filepath.Base(path))
	}
	return path
}

func validate(t *testing.T, schema, doc []byte) {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // no files, no network
	c.AssertFormat()
	if err := c.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("%v\n%.2000s", err, doc)
	}
}

func TestSARIFSchema(t *testing.T) {
	schema, err := os.ReadFile(consumer(t, "@microsoft/sarif-multitool-linux/sarif-2.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	validate(t, schema, render(t, "sarif", meta(), files()))
	validate(t, schema, render(t, "sarif", Meta{}, nil))
	validate(t, schema, render(t, "sarif", meta(), many(2000)))
}

// The validator of those who look after the format has rules beyond the schema.
func TestSARIFMultitool(t *testing.T) {
	tool := consumer(t, "@microsoft/sarif-multitool-linux/Sarif.Multitool")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.sarif"), filepath.Join(dir, "out.sarif")
	if err := os.WriteFile(in, render(t, "sarif", meta(), files()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(tool, "validate", in, "--output", out, "--level", "Error;Warning")
	c.Env = append(os.Environ(), "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1")
	log, err := c.CombinedOutput()
	result, readErr := os.ReadFile(out)
	if readErr != nil {
		t.Skipf("the validator does not run here: %v\n%s", err, log)
	}
	var report struct {
		Runs []struct {
			Results []struct {
				RuleID  string `json:"ruleId"`
				Level   string `json:"level"`
				Message struct {
					ID        string   `json:"id"`
					Arguments []string `json:"arguments"`
				} `json:"message"`
			} `json:"results"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(result, []byte("\xef\xbb\xbf")), &report); err != nil {
		t.Fatal(err)
	}
	for _, run := range report.Runs {
		for _, r := range run.Results {
			if r.Level == "error" || r.Level == "warning" || r.Level == "" {
				t.Errorf("%s %s: %s", r.RuleID, r.Level, strings.Join(r.Message.Arguments, " "))
			}
		}
	}
}

func TestSARIFLimit(t *testing.T) {
	var log sarifLog
	if err := json.Unmarshal(render(t, "sarif", meta(), many(2000)), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if len(run.Results) != maxResults {
		t.Errorf("%d results, want %d", len(run.Results), maxResults)
	}
	count := map[verify.Severity]int{}
	for _, r := range run.Results {
		count[r.Level]++
	}
	if count[verify.Error] != 2000 || count[verify.Warning] != 2000 {
		t.Errorf("the worst are not all there: %v", count)
	}
	if n := run.Invocations[0].Notifications; len(n) != 1 || !strings.HasPrefix(n[0].Message.Text, "1001 findings") {
		t.Errorf("notifications %+v do not say that 1001 were cut", n)
	}
}
