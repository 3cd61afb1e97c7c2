package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/replay/text"
)

// The grammar of workflow commands: ::name key=value,key=value::data, one a
// line, with values escaped. Everything else is plain log text and must not
// begin with "::".
var (
	command = regexp.MustCompile(`^::(error|warning|notice) file=[^:,\r\n]+(,line=[1-9]\d*,col=[1-9]\d*)?,title=[^:,\r\n]+::[^\r\n]*$`)
	escapes = regexp.MustCompile(`%(25|0D|0A|3A|2C)?`)
)

func TestGitHubGrammar(t *testing.T) {
	count := 0
	for line := range strings.Lines(string(render(t, "github", meta(), files()))) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "::") {
			if strings.Contains(line, "::") {
				t.Errorf("plain line with a command in it: %q", line)
			}
			continue
		}
		count++
		if !command.MatchString(line) {
			t.Errorf("not a command: %q", line)
		}
		for _, e := range escapes.FindAllString(line, -1) {
			if e == "%" {
				t.Errorf("bare %% in %q", line)
			}
		}
	}
	if count != 5 {
		t.Errorf("%d annotations, want 4 findings and a file that could not be checked", count)
	}
}

func TestGitHubLimits(t *testing.T) {
	m := meta()
	var summary bytes.Buffer
	m.StepSummary, m.Room = &summary, 20_000
	out := string(render(t, "github", m, many(3000)))
	for _, kind := range []string{"error", "warning", "notice"} {
		if n := strings.Count(out, "::"+kind+" "); n != maxAnnotations {
			t.Errorf("%d annotations of kind %s, want %d", n, kind, maxAnnotations)
		}
	}
	if !strings.Contains(out, "8970 findings without an annotation") {
		t.Errorf("does not say how many are left out: %s", out)
	}
	if summary.Len() > m.Room {
		t.Errorf("summary has %d bytes, room is %d", summary.Len(), m.Room)
	}
	shown := strings.Count(summary.String(), "torn-line")
	if shown == 0 || !strings.Contains(summary.String(), "\n"+text.Plural(9000-shown, "finding")+" more") {
		t.Errorf("%d rows, and the summary ends: %s", shown, summary.String()[max(0, summary.Len()-100):])
	}
	if strings.Contains(summary.String(), "| warning") {
		t.Error("not the worst first")
	}
	m.Room = 10
	summary.Reset()
	render(t, "github", m, many(1))
	if summary.Len() != 0 {
		t.Errorf("no room, yet %d bytes", summary.Len())
	}
}
