package builtin

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
)

const findParameters = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "description": "Glob pattern, such as *.go, cmd/**/*_test.go or {a,b}.txt. Without a slash it matches names, with one it matches paths below the directory."},
    "path": {"type": "string", "description": "Directory to look in, relative to the working directory; default: the working directory."},
    "limit": {"type": "integer", "minimum": 1, "description": "How many paths to show; default 1000."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

func find(o tool.Options) loop.Tool {
	return loop.Tool{
		Tool:      declared("find", "Find files and directories by a glob pattern, in alphabetical order. Does not follow links or look into .git.", findParameters),
		Effects:   loop.Read,
		Arguments: tool.Paths("path"),
		Run:       inside(o, (*workdir).find),
	}
}

type findArguments struct {
	Pattern, Path string
	Limit         whole
}

func (w *workdir) find(ctx context.Context, args findArguments) (loop.Result, error) {
	g, err := compileGlob(args.Pattern)
	if err != nil {
		return loop.Result{}, err
	}
	l := listing{limit: args.Limit.or(1000), max: w.maximum}
	err = w.walk(ctx, cmp.Or(args.Path, "."), func(name, below string, e fs.DirEntry) error {
		if below != "." && g.match(below) && !l.add(tool.Valid(name)+classify(e.Type())) {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return loop.Result{}, err
	}
	return l.result("nothing matches " + args.Pattern), nil
}

// walk visits what is below a directory, in alphabetical order: name is the
// path from the working directory, below the one from where it started. What
// cannot be read is passed over, as others' directories often cannot; where it
// starts must be readable.
func (w *workdir) walk(ctx context.Context, start string, visit func(name, below string, e fs.DirEntry) error) error {
	local, err := w.local(start)
	if err != nil {
		return err
	}
	top := filepath.ToSlash(local)
	if info, err := w.root.Stat(local); err != nil {
		return w.explain(start, err)
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", start)
	}
	return fs.WalkDir(w.root.FS(), top, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == top:
			return w.explain(start, err)
		case err != nil:
			return nil
		case e.IsDir() && path.Base(name) == ".git" && name != top:
			return fs.SkipDir
		}
		below := name
		if top != "." && name != top {
			below = name[len(top)+1:]
		} else if name == top {
			below = "."
		}
		return visit(name, below, e)
	})
}
