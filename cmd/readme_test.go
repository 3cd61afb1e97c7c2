package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/cmd"
)

// The README is executed: YAML blocks that begin with a file name are files,
// console blocks are commands with what they print, Go blocks are programs. In
// expected output, … stands for anything on a line, and alone on a line for
// any lines. With -update, outputs without … are rewritten.
func TestReadme(t *testing.T) {
	readme, err := filepath.Abs("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Dir(readme)
	t.Chdir(workFolder(t, root))
	run := console{t: t}
	fence := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	out := fence.ReplaceAllStringFunc(string(text), func(block string) string {
		m := fence.FindStringSubmatch(block)
		switch m[1] {
		case "yaml":
			writeBlock(t, m[2])
		case "go":
			buildBlock(t, root, m[2])
		case "console":
			return "```console\n" + run.block(m[2]) + "```"
		default:
			t.Errorf("block of kind %s is not tested", m[1])
		}
		return block
	})
	if run.count < 8 {
		t.Errorf("only %d commands were executed", run.count)
	}
	if *update && out != string(text) {
		if err := os.WriteFile(readme, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// workFolder is a folder in which the README's commands find what they name.
func workFolder(t *testing.T, root string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(root, "fixtures"), filepath.Join(dir, "fixtures")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeBlock(t *testing.T, text string) {
	t.Helper()
	name, _, ok := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
	if !ok || !strings.HasSuffix(name, ".yaml") {
		t.Errorf("a YAML block does not begin with its file name: %s", text)
		return
	}
	if name == ".turnlog.yaml" {
		checkConfig(t, text)
		return
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("shelf.txt", []byte("apples 12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "-q", "--out", filepath.Join(t.TempDir(), "out"), name}
	if strings.Contains(text, "provider: openai") {
		args = append(args, "--plan") // nobody answers at the endpoint
	}
	runTurnlog(t, args...)
}

// checkConfig has a command read the configuration, and nothing after it.
func checkConfig(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(".turnlog.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runTurnlog(t, "verify", "--list")
	if err := os.Remove(".turnlog.yaml"); err != nil {
		t.Fatal(err)
	}
}

func buildBlock(t *testing.T, root, program string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "run", file)
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("a program of the README: %v\n%s", err, out)
	}
}

// console executes blocks of commands and compares what they print.
type console struct {
	t     *testing.T
	code  int // of the last command
	count int
}

// block returns the block with the output that its commands really have.
func (c *console) block(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq("\n"+text, "\n$ ") {
		if part == "" {
			continue
		}
		command, want, _ := strings.Cut(part, "\n")
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		got, ok := c.execute(command)
		if !ok {
			got = want
		}
		if !like(want, got) {
			if !*update || strings.Contains(want, "…") {
				c.t.Errorf("$ %s\nprints\n%s\nthe README says\n%s", command, got, want)
			} else {
				want = got
			}
		}
		fmt.Fprintf(&b, "$ %s\n%s", command, want)
	}
	return b.String()
}

// execute runs one command line; ok is false for those that are only shown.
func (c *console) execute(command string) (output string, ok bool) {
	args := strings.Fields(strings.Replace(command, "go run . ", "turnlog ", 1))
	switch {
	case command == "go test ./...":
		return "", false // this test is part of it
	case command == "echo $?":
		return fmt.Sprintf("%d\n", c.code), true
	case args[0] != "turnlog":
		c.t.Errorf("cannot execute %q", command)
		return "", false
	}
	c.count++
	var out, errs strings.Builder
	c.code = cmd.Main(c.t.Context(), args[1:], cmd.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if out.Len() == 0 {
		return errs.String(), true
	}
	return out.String(), true
}

// like compares text with a pattern in which … stands for anything.
func like(pattern, text string) bool {
	p := regexp.QuoteMeta(pattern)
	p = regexp.MustCompile(`(?m)^…\n`).ReplaceAllString(p, `(?:.*\n)*`)
	p = strings.ReplaceAll(p, "…", `.*`)
	return regexp.MustCompile(`^` + p + `$`).MatchString(text)
}

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a…c\n", "abbc\n", true},
		{"a\n…\nd\n", "a\nb\nc\nd\n", true},
		{"a\n…\nd\n", "a\nd\n", true},
		{"a…c\n", "ab\nc\n", false},
		{"a.c\n", "abc\n", false},
		{"a\n", "a\nb\n", false},
	} {
		if got := like(c.pattern, c.text); got != c.want {
			t.Errorf("like(%q, %q) = %v", c.pattern, c.text, got)
		}
	}
}
