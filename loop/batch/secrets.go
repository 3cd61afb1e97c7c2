package batch

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/turnlog/turnlog/loop/batch/mask"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
)

// Secrets makes the mask that task files ask for: values of the variables
// that hold keys, and texts that look like keys. Tasks that run together are
// masked together.
func Secrets(files []*task.File, env func(string) (string, bool)) (*mask.Mask, error) {
	values := map[string]string{}
	var extra []string
	usual := false
	for _, f := range files {
		for i := range f.Tasks {
			t := &f.Tasks[i]
			usual = usual || slices.Contains(t.Secrets.Redact, task.RedactPatterns)
			extra = append(extra, t.Secrets.ExtraPatterns...)
			if !slices.Contains(t.Secrets.Redact, task.RedactKnownEnv) {
				continue
			}
			for _, name := range secretEnv(t) {
				if v, ok := env(name); ok {
					values[name] = v
				}
			}
		}
	}
	slices.Sort(extra)
	var patterns []*regexp.Regexp
	for _, p := range slices.Compact(extra) {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("secrets.extra_patterns: %w", err)
		}
		patterns = append(patterns, re)
	}
	return mask.New(values, patterns, usual), nil
}

// secretEnv lists the variables whose values a task uses as keys.
func secretEnv(t *task.Task) []string {
	names := []string{provider.KeyEnv(&t.Model)}
	lists := [][]task.Tool{t.Tools}
	for _, c := range t.ToolChanges {
		lists = append(lists, c.Add)
	}
	for _, list := range lists {
		for _, item := range list {
			if item.MCP != nil {
				names = slices.AppendSeq(names, maps.Values(item.MCP.HeadersEnv))
			}
		}
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == "" })
}
