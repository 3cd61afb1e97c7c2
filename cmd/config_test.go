package cmd

import (
	"strings"
	"testing"
)

// Every setting is a flag of its command, once that command is there, and each
// comes from the environment.
func TestSettings(t *testing.T) {
	// Values that the flags take and that are not their defaults.
	values := map[string]string{
		"format": "json", "sync": "none", "quiet": "true", "progress": "never", "fail-on": "note",
		"jobs": "3", "max-turns": "3", "max-tokens": "3", "max-cost-usd": "3", "max-wall": "3s",
		"out": "x", "baseline": "x", "report": "x",
	}
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, set := range settings() {
		c, _, err := newRoot(Streams{}).Find([]string{set.command})
		if err != nil || c.Flags().Lookup(set.flag) == nil {
			t.Errorf("setting %s: no such flag", dotted(set.key()))
			continue
		}
		variable, want := set.env()[0], values[set.flag]
		if set.command == "run" && set.flag == "format" {
			want = "text"
		}
		env := Streams{Getenv: func(name string) string {
			if name == variable {
				return want
			}
			return ""
		}}
		if err := configure(c, env); err != nil {
			t.Errorf("%s: %v", variable, err)
		}
		if got := c.Flags().Lookup(set.flag).Value.String(); strings.Trim(got, "[]") != want {
			t.Errorf("%s=%s: --%s is %q", variable, want, set.flag, got)
		}
	}
}
