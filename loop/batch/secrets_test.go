package batch

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/batch/mask"
)

// The mark is the one that tools set.
func TestFault63SecretsCutByATool(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	const spoken = "hunter2 correct horse"
	// Of 2000 bytes the first 1000 are kept: the secret begins at 990.
	yaml := "version: 1\nprompt: go\ntools: [{ bash: { max_output: 2000B } }]\nmodel: { provider: scripted, responses: [{ calls: [{ name: bash, arguments: { command: " +
		`"printf %990s; echo '` + spoken + `'; printf %5000s"` + " } }] }, { text: done }] }\n"
	var out strings.Builder
	m := mask.New(map[string]string{"S": spoken}, nil, false)
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Run(t.Context(), Options{Files: parse(t, "c", yaml), Out: dir, Sink: &NDJSON{W: &out, Mask: m.Line}, Mask: m}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "[secret:S]\\n[... ") || strings.Contains(out.String(), spoken[:6]) {
		t.Error(out.String())
	}
}

// A run with a secret in its model's mouth, cut by the scripted model as it
// likes: neither events nor transcript have it, and the transcript is clean.
func TestFault63WholeRun(t *testing.T) {
	yaml := scriptedHead + "model: { provider: scripted, responses: [{ text: 'the key is zebra-12345678, and zebra-12345678' }] }\n"
	var out strings.Builder
	m := mask.New(nil, []*regexp.Regexp{regexp.MustCompile("zebra-[0-9]{8}")}, false)
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Run(t.Context(), Options{Files: parse(t, "c", yaml), Out: dir, Sink: &NDJSON{W: &out, Mask: m.Line}, Mask: m, Tools: (&world{ran: map[string]int{}}).tools}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "12345678") {
		t.Errorf("it is in %s", out.String())
	}
	for _, f := range findings(t, filepath.Join(dir, "c.jsonl")) {
		t.Errorf("line %d: %s [%s]", f.Line, f.Message, f.Rule)
	}
}
