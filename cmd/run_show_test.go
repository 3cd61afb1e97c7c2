package cmd_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/cmd"
)

// The live block is drawn on a terminal that stdout does not write to as well;
// elsewhere there are no escape sequences, and nothing at all unless it was
// asked for.
func TestProgressIsShownWhereItBelongs(t *testing.T) {
	const none, lines, block = "none", "lines", "block"
	for _, c := range []struct {
		name           string
		outTTY, errTTY bool
		term           string
		args           []string
		want           string
	}{
		{"pipes", false, false, "xterm", nil, none},
		{"pipes, always", false, false, "xterm", []string{"--progress", "always"}, lines},
		{"stderr is a terminal", false, true, "xterm", nil, block},
		{"stderr is a terminal, never", false, true, "xterm", []string{"--progress", "never"}, none},
		{"stderr is a terminal, quiet", false, true, "xterm", []string{"-q"}, none},
		{"stderr is a terminal, quiet, always", false, true, "xterm", []string{"-q", "--progress", "always"}, block},
		{"both are the terminal", true, true, "xterm", nil, none},
		{"both are the terminal, always", true, true, "xterm", []string{"--progress", "always"}, lines},
		{"a terminal that draws nothing", false, true, "dumb", nil, none},
		{"a terminal that draws nothing, always", false, true, "dumb", []string{"--progress", "always"}, lines},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs strings.Builder
			args := append([]string{"run", "--out", filepath.Join(t.TempDir(), "out"), "../fixtures/tasks/hello.yaml"}, c.args...)
			code := cmd.Main(t.Context(), args, cmd.Streams{
				In: strings.NewReader(""), Out: &out, Err: &errs, OutTTY: c.outTTY, ErrTTY: c.errTTY,
				ErrWidth: func() int { return 40 },
				Getenv: func(name string) string {
					if name == "TERM" {
						return c.term
					}
					return ""
				},
			})
			got := none
			switch {
			case strings.Contains(errs.String(), "\x1b["):
				got = block
			case strings.Contains(errs.String(), "turn 1"):
				got = lines
			}
			if code != 0 || got != c.want {
				t.Errorf("exit code %d, %s, want %s: %q", code, got, c.want, errs.String())
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Error("escape sequences in the events")
			}
			if c.want == block {
				// The last thing the block does is to clear from its first line on.
				rest := errs.String()[strings.LastIndex(errs.String(), "\x1b[J")+len("\x1b[J"):]
				if strings.Contains(rest, "tokens") {
					t.Errorf("left on the terminal: %q", rest)
				}
			}
		})
	}
}

// Text is coloured on a terminal only, and not if the user says no.
func TestTextIsColouredOnATerminal(t *testing.T) {
	for _, c := range []struct {
		tty  bool
		env  string // a variable that is set
		want bool
	}{{false, "", false}, {true, "", true}, {true, "NO_COLOR", false}} {
		var out, errs strings.Builder
		code := cmd.Main(t.Context(), []string{"run", "--format", "text", "--out", filepath.Join(t.TempDir(), "out"), "../fixtures/tasks/hello.yaml"}, cmd.Streams{
			In: strings.NewReader(""), Out: &out, Err: &errs, OutTTY: c.tty,
			Getenv: func(name string) string {
				if name == c.env {
					return "1"
				}
				return ""
			},
		})
		if got := strings.Contains(out.String(), "\x1b["); code != 0 || got != c.want {
			t.Errorf("terminal %v, %s set: exit code %d, coloured %v", c.tty, c.env, code, got)
		}
	}
}
