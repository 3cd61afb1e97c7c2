package process

import (
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop/tool"
)

// usual is what every program gets of the environment. Everything else, keys
// above all, must be named.
var usual = []string{"PATH", "HOME", "LANG", "LC_*", "TMPDIR", "TZ"}

// Environment is what a program of a tool gets to see.
func Environment(o tool.Options) []string {
	var env []string
	for _, entry := range o.Environ() {
		name, _, ok := strings.Cut(entry, "=")
		if ok && (named(usual, name) || named(o.AllowEnv, name)) {
			env = append(env, entry)
		}
	}
	slices.Sort(env)
	return append(env, "AI_AGENT=turnlog")
}

// named reports whether a name is listed, by itself or by its beginning and a
// star.
func named(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		start, open := strings.CutSuffix(p, "*")
		return p == name || open && strings.HasPrefix(name, start)
	})
}
