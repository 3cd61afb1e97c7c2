package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os/exec"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/report/junit"
)

// junit2json reads reports for dashboards: what it sees is what they show.
func TestJUnitConsumer(t *testing.T) {
	node, reader := consumer(t, ".bin/node"), consumer(t, "junit2json/package.json")
	c := exec.Command(node, "--input-type=module", "-e", `
import { parse } from 'file://`+strings.TrimSuffix(reader, "package.json")+`dist/esm/index.js';
let xml = ''; for await (const part of process.stdin) xml += part;
console.log(JSON.stringify(await parse(xml)));`)
	c.Stdin = bytes.NewReader(render(t, "junit", meta(), files()))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var got struct {
		Suites []struct {
			Name     string `json:"name"`
			Tests    int    `json:"tests"`
			Failures int    `json:"failures"`
			Errors   int    `json:"errors"`
			Skipped  int    `json:"skipped"`
			Cases    []struct {
				Name    string `json:"name"`
				Failure []struct {
					Message string `json:"message"`
				} `json:"failure"`
			} `json:"testcase"`
		} `json:"testsuite"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if len(got.Suites) != 5 {
		t.Fatalf("%d suites, want 5: %s", len(got.Suites), out)
	}
	s := got.Suites[1]
	if s.Name != "runs/a b%:,.jsonl" || s.Tests != 3 || s.Failures != 1 || len(s.Cases) != 3 ||
		s.Cases[0].Name != "removed-tool-call line 8" || len(s.Cases[0].Failure) != 1 ||
		s.Cases[0].Failure[0].Message != "bash is called, but it was removed on line 6" {
		t.Errorf("suite %+v", s)
	}
	if got.Suites[3].Skipped != 1 || got.Suites[4].Errors != 1 {
		t.Errorf("an unknown file is skipped, a failed one an error: %+v", got.Suites[3:])
	}
}

// Characters that XML cannot hold survive in a form that people can read.
func TestJUnitControlCharacters(t *testing.T) {
	out := render(t, "junit", meta(), files())
	var suites struct {
		Suites []junit.Suite `xml:"testsuite"`
	}
	if err := xml.Unmarshal(out, &suites); err != nil {
		t.Fatal(err)
	}
	text := suites.Suites[1].Cases[1].Out
	for _, want := range []string{`\x1b[2J`, `<script>`, `]]>&amp;`, `\u202e`, `\xff`, `\r\n`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}
