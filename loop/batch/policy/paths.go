package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/loop/task"
)

// fileTools are the built-in tools that work below the working directory.
var fileTools = []string{"read", "write", "edit", "ls", "find", "grep"}

// pathArgument is the argument of theirs that names a file.
const pathArgument = "path"

// namesFile reports a rule for the files of a file tool.
func (p *Permissions) namesFile(rule task.Permission, tool string) bool {
	return p.dir != "" && rule.Argument == pathArgument && slices.Contains(fileTools, tool)
}

// spellings are the names of a file under which a rule may know it: as it is
// written, without detours, and where links lead. Detours go first, as the
// file tools do it.
func (p *Permissions) spellings(name string) (written, real []string) {
	abs := filepath.Clean(name)
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(p.dir, abs)
	}
	return append(p.names(abs), cleaned(name)), p.names(resolve(abs))
}

// names are an absolute path, and the same below the working directory.
func (p *Permissions) names(abs string) []string {
	all := []string{abs}
	for _, dir := range []string{p.dir, resolve(p.dir)} {
		if rel, err := filepath.Rel(dir, abs); err == nil && filepath.IsLocal(rel) {
			all = append(all, filepath.ToSlash(rel))
		}
	}
	return all
}

// resolve follows the links of the part of a path that exists.
func resolve(name string) string {
	rest := ""
	for name := name; ; {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(name)
		if parent == name {
			return filepath.Clean(name + "/" + rest)
		}
		rest, name = filepath.Join(filepath.Base(name), rest), parent
	}
}

func matchAny(pattern string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return matchText(pattern, n) })
}

// cleaned is a path without detours, so that a/../b is compared as b.
func cleaned(value string) string {
	if !strings.Contains(value, "/") {
		return value
	}
	return path.Clean(value)
}
