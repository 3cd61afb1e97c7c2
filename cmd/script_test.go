package cmd_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/turnlog/turnlog/cmd"
)

var update = flag.Bool("update", false, "rewrite golden files and scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"turnlog": func() { os.Exit(cmd.Main(context.Background(), os.Args[1:], cmd.System())) },
	})
}

// TestScripts runs testdata/script: one file per command and topic. Scripts
// assert stdout, stderr and, with exits, the exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			root, err := filepath.Abs("..")
			if err != nil {
				return err
			}
			e.Setenv("FIXTURES", filepath.Join(root, "fixtures"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("CI", "")
			e.Defer(func() { verifyRuns(t, e.WorkDir) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// verifyRuns verifies every transcript that a script had written: whatever was
// done to a run, what it leaves behind is sound.
func verifyRuns(t *testing.T, dir string) {
	results, err := filepath.Glob(filepath.Join(dir, "*", "results*.ndjson"))
	if err != nil {
		t.Error(err)
	}
	for _, name := range results {
		transcripts, err := filepath.Glob(filepath.Join(filepath.Dir(name), "*.jsonl"))
		if err != nil || len(transcripts) == 0 {
			continue
		}
		var out strings.Builder
		args := append([]string{"verify", "--fail-on", "error"}, transcripts...)
		if code := cmd.Main(t.Context(), args, cmd.Streams{In: strings.NewReader(""), Out: &out, Err: &out}); code != 0 {
			t.Errorf("%s: verify: exit %d\n%s", filepath.Base(dir), code, out.String())
		}
	}
}

// exits runs a program and checks its exit code: exits 2 turnlog verify no.jsonl.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// Every command has at least one script, named after it, and says in its help
// how to call it and what its exit codes are.
func TestEveryCommand(t *testing.T) {
	found := 0
	for line := range strings.Lines(runTurnlog(t, "__complete", "")) {
		name, _, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		found++
		t.Run(name, func(t *testing.T) {
			scripts, err := filepath.Glob("testdata/script/" + name + "*.txtar")
			if err != nil || len(scripts) == 0 {
				t.Errorf("no testdata/script/%s*.txtar", name)
			}
			help := runTurnlog(t, "help", name)
			for _, section := range []string{`(?m)^Usage:\n  turnlog `, `(?m)^Examples:\n  .*turnlog ` + name, `(?m)^Exit codes:\n  0 `, `(?m)^  130  `} {
				if !regexp.MustCompile(section).MatchString(help) {
					t.Errorf("help does not match %q:\n%s", section, help)
				}
			}
		})
	}
	if found < 3 {
		t.Fatalf("only %d commands", found)
	}
}

// runTurnlog runs a command in this process and returns its standard output.
func runTurnlog(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs strings.Builder
	code := cmd.Main(t.Context(), args, cmd.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if code != 0 {
		t.Fatalf("turnlog %s: exit %d\n%s", strings.Join(args, " "), code, errs.String())
	}
	return out.String()
}
