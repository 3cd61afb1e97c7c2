package foreign

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/internal/jsonx"
)

// Head is the beginning of a file.
type Head struct {
	Bytes   []byte
	Objects []Object // of the lines that start with an object, damaged ones too
}

// Object has the top-level members of a JSON object as far as they could be
// read: strings by value, everything else as "".
type Object map[string]string

// How many lines are looked at, at first and if they do not tell. A file may
// begin with a good number of bookkeeping lines: some Claude Code files have
// dozens.
const (
	fewObjects  = 8
	manyObjects = 64
)

func newHead(b []byte, objects int) *Head {
	h := &Head{Bytes: b[:min(len(b), HeadSize)]}
	for line := range bytes.Lines(h.Bytes) {
		line = bytes.TrimLeft(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")), " \t\r\n\x00")
		if len(line) > 0 && line[0] == '{' {
			h.Objects = append(h.Objects, readObject(line))
		}
		if len(h.Objects) == objects {
			break
		}
	}
	return h
}

// readObject reads the members of an object as far as they go, so that a torn
// line still shows what it was.
func readObject(line []byte) Object {
	o := make(Object)
	s := jsonx.New(line)
	for in := s.Open(); s.Next(&in); {
		name := strings.Clone(in.Name)
		o[name] = ""
		if s.Peek() == '"' {
			o[name] = strings.Clone(s.Str())
		} else {
			s.Value()
		}
	}
	return o
}

// has reports whether o has all the members.
func (o Object) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		_, ok := o[name]
		return !ok
	})
}

// is reports whether the type of o is one of names.
func (o Object) is(names ...string) bool {
	t, ok := o["type"]
	return ok && slices.Contains(names, t)
}

func (h *Head) any(match func(Object) bool) bool { return slices.ContainsFunc(h.Objects, match) }

// describe says what a file of no known format looks like.
func (h *Head) describe() string {
	trimmed := bytes.TrimLeft(h.Bytes, "\xef\xbb\xbf \t\r\n")
	switch {
	case len(h.Bytes) == 0:
		return "an empty file"
	case bytes.HasPrefix(h.Bytes, []byte("PK")):
		return "a zip archive"
	case bytes.HasPrefix(h.Bytes, []byte("\x1f\x8b")):
		return "gzip data"
	case bytes.HasPrefix(h.Bytes, []byte("\x28\xb5\x2f\xfd")):
		return "zstandard data"
	case len(h.Objects) > 0 && len(h.Objects[0]) == 0:
		return "JSON lines of empty objects"
	case len(h.Objects) > 0:
		return fmt.Sprintf("JSON lines with the members %s", h.Objects[0].members())
	case len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '['):
		return "a JSON document"
	}
	return "no JSON lines"
}

// members lists a few names, in order.
func (o Object) members() string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) > 6 {
		names = append(names[:6], "…")
	}
	return strings.Join(names, ", ")
}
