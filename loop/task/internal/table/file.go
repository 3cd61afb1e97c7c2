package table

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// MaxText bounds a file whose text becomes part of a value.
const MaxText = 4 << 20

// FileText is a path, relative to the file that is read, for the text of the
// file there.
func FileText() Value[string] {
	return Filled().Then(func(d *Decoder, n *Node, s *string) {
		*s, _ = d.ReadText(n, d.Path(*s))
	})
}

// Path is where a path of the file is.
func (d *Decoder) Path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(filepath.Dir(d.File), p)
}

// ReadText reads a file that is named at n.
func (d *Decoder) ReadText(n *Node, path string) (string, bool) {
	data, err := d.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.At(n, "paths are relative to the "+d.format.Name, "no such file: %s", path)
	case err != nil:
		d.At(n, "", "%s", OneLine(err.Error()))
	case len(data) > MaxText:
		d.At(n, "", "%s has %d bytes, at most %d are read", path, len(data), MaxText)
	case !utf8.Valid(data):
		d.At(n, "", "%s is not UTF-8 text", path)
	default:
		return strings.TrimPrefix(string(data), "\ufeff"), true
	}
	return "", false
}
