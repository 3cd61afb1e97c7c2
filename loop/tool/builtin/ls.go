package builtin

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
)

const lsParameters = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "Directory to list, relative to the working directory; default: the working directory."},
    "limit": {"type": "integer", "minimum": 1, "description": "How many entries to show; default 500."}
  },
  "additionalProperties": false
}`

func ls(o tool.Options) loop.Tool {
	return loop.Tool{
		Tool:      declared("ls", "List a directory in alphabetical order, hidden files included. Directories end in /, links in @.", lsParameters),
		Effects:   loop.Read,
		Arguments: tool.Paths("path"),
		Run:       inside(o, (*workdir).ls),
	}
}

type lsArguments struct {
	Path  string
	Limit whole
}

func (w *workdir) ls(_ context.Context, args lsArguments) (loop.Result, error) {
	path := cmp.Or(args.Path, ".")
	name, err := w.local(path)
	if err != nil {
		return loop.Result{}, err
	}
	entries, err := fs.ReadDir(w.root.FS(), filepath.ToSlash(name))
	if err != nil {
		if info, e := w.root.Stat(name); e == nil && !info.IsDir() {
			return loop.Result{}, fmt.Errorf("%s is not a directory; read it with read", path)
		}
		return loop.Result{}, w.explain(path, err)
	}
	l := listing{limit: args.Limit.or(500), max: w.maximum}
	for _, e := range entries {
		if !l.add(tool.Valid(e.Name()) + classify(e.Type())) {
			break
		}
	}
	return l.result("the directory is empty"), nil
}

// classify marks what is no file, after its name.
func classify(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "/"
	case mode&fs.ModeSymlink != 0:
		return "@"
	default:
		return ""
	}
}

// listing collects lines up to a number of them and of bytes.
type listing struct {
	limit int
	max   int64

	text  strings.Builder
	count int
	more  bool
}

// add reports whether there is room for more. A line that found none is
// counted as left out.
func (l *listing) add(line string) bool {
	if l.count == l.limit || int64(l.text.Len()+len(line)+1) > l.max {
		l.more = true
		return false
	}
	l.text.WriteString(line)
	l.text.WriteByte('\n')
	l.count++
	return true
}

func (l *listing) result(empty string) loop.Result {
	text := l.text.String()
	switch {
	case l.count == 0 && !l.more:
		text = "(" + empty + ")"
	case l.more:
		text += fmt.Sprintf("\n[only the first %d are shown]", l.count)
	}
	return tool.Text(text, struct {
		Count int  `json:"count"`
		More  bool `json:"more"`
	}{l.count, l.more})
}
