package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/mask"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/batch/report"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/replay/report/junit"
	"github.com/turnlog/turnlog/replay/report/workflow"
)

var update = flag.Bool("update", false, "rewrite golden files")

// hostile is out to break XML, workflow commands, Markdown and terminals.
const hostile = "\x1b[2J<script>|@octocat `x`]]>&amp;\u202e\xff 100%\r\n::error::forged"

const key = "sk-local-0123456789"

// summary has a task for each way to end.
func summary() *batch.Summary {
	task := func(id string, s policy.Status, reason string, as ...results.Assertion) results.Result {
		return results.Result{
			ID: id, Status: s, ExitCode: s.ExitCode(), Reason: reason, File: "tasks/" + id + ".yaml", Turns: 2, ToolCalls: 1,
			Usage: results.Usage{TotalTokens: 345}, DurationMs: 1234, Transcript: id + ".jsonl", Assertions: as,
		}
	}
	first := results.Assertion{Name: "tool_used read", Line: 7, Message: "read was called 0 times"}
	sum := &batch.Summary{
		Batch: "b", CostUSD: 0.0123, Usage: results.Usage{TotalTokens: 3450},
		Counts: map[string]int{"ok": 2},
		Results: []results.Result{
			task("good", policy.OK, "", results.Assertion{Name: "status", Line: 5, OK: true}),
			task("warned", policy.OK, "", results.Assertion{Name: "usage turns", Line: 9, Severity: "warning", Message: "turns is 2"}),
			task("failing", policy.Failed, "tasks/failing.yaml:7: assertion tool_used read: read was called 0 times", first,
				results.Assertion{Name: "check make " + hostile, Message: hostile + key}),
			task("unjudged", policy.Failed, "a check failed"),
			task("broken", policy.Error, "endpoint said "+hostile),
			task("limited", policy.Limit, "turns: 2"),
			task("refused", policy.Denied, "bash is not allowed"),
			task("late", policy.Aborted, "stopped by terminated"),
			task("never", policy.Skipped, "fail-fast: failing did not end ok"),
			task("a,b:c%"+hostile, policy.NoOutput, ""),
		},
	}
	sum.Tasks = len(sum.Results)
	return sum
}

func options() report.Options {
	return report.Options{Mask: mask.New(map[string]string{"KEY": key}, nil, false).Text}
}

func write(t *testing.T, kind string, sum *batch.Summary, o report.Options) string {
	t.Helper()
	var out strings.Builder
	if err := report.Write(kind, &out, sum, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	var step bytes.Buffer
	o := options()
	o.StepSummary = &step
	texts := map[string]string{}
	for _, kind := range report.Kinds() {
		texts[kind] = write(t, kind, summary(), o)
	}
	texts["summary"] = step.String()
	for name, text := range texts {
		golden(t, name+".golden", text)
		if strings.Contains(text, key) {
			t.Errorf("%s: the key is shown", name)
		}
		for i, r := range text {
			if r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e) {
				t.Errorf("%s: control character %q at %d", name, r, i)
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// Each task is a suite; a failure is counted once, at the assertion if there is
// one.
func TestJUnitCounts(t *testing.T) {
	var doc struct {
		Suites []junit.Suite `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(write(t, report.JUnit, summary(), options())), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range doc.Suites {
		got = append(got, fmt.Sprintf("%.8s %d %d %d %d", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped))
	}
	want := []string{
		"good 2 0 0 0", "warned 2 0 0 0", "failing 3 2 0 0", "unjudged 1 1 0 0", "broken 1 0 1 0",
		"limited 1 1 0 0", "refused 1 1 0 0", "late 1 0 1 0", "never 1 0 0 1", `a,b:c%\x 1 1 0 0`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("name, tests, failures, errors, skipped (-want +got):\n%s", d)
	}
	if c := doc.Suites[2].Cases[1]; c.Line != 7 || c.File != "tasks/failing.yaml" || !strings.HasPrefix(c.Failure.Text, "tasks/failing.yaml:7: ") {
		t.Errorf("the failing assertion: %+v", c)
	}
}

// junit2json reads reports for dashboards: what it sees is what they show.
func TestJUnitConsumer(t *testing.T) {
	modules, err := filepath.Abs("../../../.cache/npm/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	reader := filepath.Join(modules, "junit2json/dist/esm/index.js")
	if _, err := os.Stat(reader); err != nil {
		t.Skip("junit2json is not installed: scripts/npm.sh does")
	}
	c := exec.Command(filepath.Join(modules, ".bin/node"), "--input-type=module", "-e", `
import { parse } from 'file://`+reader+`';
let xml = ''; for await (const part of process.stdin) xml += part;
console.log(JSON.stringify(await parse(xml)));`)
	c.Stdin = strings.NewReader(write(t, report.JUnit, summary(), options()))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var got struct {
		Suites []struct {
			Name     string `json:"name"`
			Failures int    `json:"failures"`
			Cases    []struct {
				Failure []struct {
					Message string `json:"message"`
				} `json:"failure"`
			} `json:"testcase"`
		} `json:"testsuite"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(got.Suites) != 10 {
		t.Fatalf("%d suites, want 10: %s", len(got.Suites), out)
	}
	s := got.Suites[2]
	if s.Name != "failing" || s.Failures != 2 || s.Cases[1].Failure[0].Message != "read was called 0 times" {
		t.Errorf("suite %+v", s)
	}
}

// The grammar of workflow commands: ::name key=value,key=value::data, one a
// line, with values escaped.
var (
	command = regexp.MustCompile(`^::(error|warning|notice) file=[^:,\r\n]+(,line=[1-9]\d*,col=[1-9]\d*)?,title=[^:,\r\n]+::[^\r\n]*$`)
	escapes = regexp.MustCompile(`%(25|0D|0A|3A|2C)?`)
)

func TestGitHubGrammar(t *testing.T) {
	kinds := map[string]int{}
	for line := range strings.Lines(write(t, report.GitHub, summary(), options())) {
		line = strings.TrimSuffix(line, "\n")
		m := command.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("not a command: %q", line)
			continue
		}
		kinds[m[1]]++
		for _, e := range escapes.FindAllString(line, -1) {
			if e == "%" {
				t.Errorf("bare %% in %q", line)
			}
		}
	}
	if kinds["error"] != 8 || kinds["warning"] != 1 {
		t.Errorf("annotations: %v, want 8 errors and a warning", kinds)
	}
}

func TestGitHubLimits(t *testing.T) {
	sum := summary()
	for i := range 5000 {
		r := sum.Results[2]
		r.ID = fmt.Sprintf("more.%d", i)
		sum.Results = append(sum.Results, r)
	}
	var step bytes.Buffer
	o := options()
	o.StepSummary = &step
	out := write(t, report.GitHub, sum, o)
	if n := strings.Count(out, "::error "); n != workflow.MaxAnnotations {
		t.Errorf("%d annotations, want %d", n, workflow.MaxAnnotations)
	}
	if want := fmt.Sprintf("%d problems without an annotation", 8+2*5000-10); !strings.Contains(out, want) {
		t.Errorf("does not say %q:\n%s", want, out)
	}
	for _, room := range []int{0, 20_000, 200, 1} {
		step.Reset()
		o.Room = room
		write(t, report.GitHub, sum, o)
		limit := room
		if room == 0 {
			limit = workflow.MaxSummaryBytes
		}
		rows := strings.Count(step.String(), "\n| ") - 1 // the head
		if step.Len() > limit {
			t.Errorf("room %d: the summary has %d bytes", room, step.Len())
		}
		if room == 20_000 && !strings.Contains(step.String(), fmt.Sprintf("%d tasks more in results.ndjson", len(sum.Results)-rows)) {
			t.Errorf("room %d: %d rows, end %q", room, rows, step.String()[step.Len()-100:])
		}
	}
}

func TestUnknownKind(t *testing.T) {
	err := report.Write("xml", nil, summary(), options())
	if want := `unknown report "xml" (known: junit, github)`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestWriteError(t *testing.T) {
	for _, kind := range report.Kinds() {
		if err := report.Write(kind, full{}, summary(), options()); !errors.Is(err, errFull) {
			t.Errorf("%s: got %v", kind, err)
		}
	}
}

var errFull = errors.New("no space left on device")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
