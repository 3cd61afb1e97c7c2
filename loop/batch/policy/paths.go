package policy

import (
	"encoding/json"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// names are all names of the file that a path leads to, in three groups: as it
// is written; where links lead when detours are dropped first, as the built-in
// tools do; and where the system gets, for which a detour leads up from where
// a link has led. A file may be known under any name of each.
func (p *Permissions) names(value string) [][]string {
	abs := value
	if !filepath.IsAbs(abs) {
		abs = p.dir + string(filepath.Separator) + value
	}
	clean := filepath.Clean(abs)
	if len(abs) > maxPath {
		abs = clean
	}
	return [][]string{append(p.spellings(clean), cleaned(value)), p.spellings(resolve(clean)), p.spellings(resolve(abs))}
}

// spellings are an absolute path, and the same below the working directory.
func (p *Permissions) spellings(abs string) []string {
	all := []string{abs}
	for _, dir := range []string{p.dir, resolve(p.dir)} {
		if rel, err := filepath.Rel(dir, abs); err == nil && filepath.IsLocal(rel) {
			all = append(all, filepath.ToSlash(rel))
		}
	}
	return all
}

// What systems take: links on the way, and bytes of a path at most.
const (
	maxLinks = 40
	maxPath  = 32 << 10
)

// resolve follows the links in an absolute path as the system does. What comes
// after something that is not there stays as it is written.
func resolve(abs string) string {
	root := filepath.VolumeName(abs) + string(filepath.Separator)
	at := root
	parts := split(abs[len(filepath.VolumeName(abs)):])
	for links := 0; len(parts) > 0; {
		next := filepath.Join(at, parts[0]) // a detour leads up
		parts = parts[1:]
		if real, err := filepath.EvalSymlinks(next); err == nil {
			at = real
			continue
		}
		link, err := os.Readlink(next) // to what is not there yet
		if err != nil || links == maxLinks {
			return filepath.Join(append([]string{next}, parts...)...)
		}
		links++
		if filepath.IsAbs(link) {
			at, link = root, link[len(filepath.VolumeName(link)):]
		}
		parts = append(split(link), parts...)
	}
	return at
}

func split(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) })
}

// meanings are a path and what else a program may take it for: below the home
// directory, or an address of a file.
func meanings(value string) []string {
	all := []string{value}
	if rest, ok := strings.CutPrefix(value, "~"); ok && (rest == "" || rest[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil {
			all = append(all, home+rest)
		}
	}
	if address, err := url.Parse(value); err == nil && address.Scheme == "file" {
		all = append(all, address.Path)
	}
	return all
}

// cleaned is a path without detours, so that a/../b is compared as b.
func cleaned(value string) string {
	if !strings.Contains(value, "/") {
		return value
	}
	return path.Clean(value)
}

// paths are the texts in the value of an argument that names files: one, or
// those in a list.
func paths(value json.RawMessage) []string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return nil
	}
	return appendTexts(nil, v)
}

func appendTexts(texts []string, v any) []string {
	switch v := v.(type) {
	case string:
		texts = append(texts, v)
	case []any:
		for _, item := range v {
			texts = appendTexts(texts, item)
		}
	case map[string]any:
		for _, item := range v {
			texts = appendTexts(texts, item)
		}
	}
	return texts
}

func matchAny(pattern string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return matchText(pattern, n) })
}
