package task

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxText bounds a file whose text becomes part of a task.
const maxText = 4 << 20

// fileText reads a path, relative to the task file, and gives the file's text.
func fileText() value[string] {
	return value[string]{
		schema: &schemaNode{Type: "string", MinLength: 1},
		decode: func(d *decoder, n *yaml.Node) (string, bool) {
			path, ok := filled().decode(d, n)
			if !ok {
				return "", false
			}
			return d.readText(n, d.path(path))
		},
	}
}

// path is where a path of the task file is.
func (d *decoder) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(d.file), p)
}

// readText reads a file that is named at n.
func (d *decoder) readText(n *yaml.Node, path string) (string, bool) {
	data, err := d.opts.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.at(n, "paths are relative to the task file", "no such file: %s", path)
	case err != nil:
		d.at(n, "", "%s", oneLine(err.Error()))
	case len(data) > maxText:
		d.at(n, "", "%s has %d bytes, at most %d are read", path, len(data), maxText)
	case !utf8.Valid(data):
		d.at(n, "", "%s is not UTF-8 text", path)
	default:
		return strings.TrimPrefix(string(data), "\ufeff"), true
	}
	return "", false
}

// joinParagraphs puts a blank line between two texts.
func joinParagraphs(a, b string) string {
	a = strings.TrimRight(a, "\n")
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
