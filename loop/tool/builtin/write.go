package builtin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/turnlog/turnlog/loop"
	"github.com/turnlog/turnlog/loop/tool"
)

const writeParameters = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to write, relative to the working directory."},
    "content": {"type": "string", "description": "The whole new content of the file."}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}`

func write(o tool.Options) loop.Tool {
	return loop.Tool{
		Tool:      declared("write", "Write a whole file. An existing file is replaced; missing directories are made.", writeParameters),
		Effects:   loop.Write,
		Arguments: tool.Paths("path"),
		Run: inside(o, func(w *workdir, _ context.Context, args writeArguments) (loop.Result, error) {
			changing.Lock()
			defer changing.Unlock()
			if err := w.write(args.Path, args.Content); err != nil {
				return loop.Result{}, err
			}
			return tool.Text(fmt.Sprintf("wrote %d bytes to %s", len(args.Content), args.Path), nil), nil
		}),
	}
}

type writeArguments struct{ Path, Content string }

// changing lets one change of a file end before the next one begins. The calls
// of a batch run at once, and of two edits of one file that both read it first,
// the later one would undo the other.
var changing sync.Mutex

// write makes content the content of a file.
func (w *workdir) write(path, content string) error {
	name, err := w.local(path)
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, "/") || name == "." {
		return fmt.Errorf("%s names a directory, not a file", path)
	}
	if err := w.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return w.explain(path, err)
	}
	info, err := w.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return w.explain(path, w.replace(name, content, 0o644))
	case err != nil:
		return w.explain(path, err)
	case info.Mode().Type() == fs.ModeSymlink:
		return w.writeThrough(path, name, content)
	}
	if err := regular(path, info); err != nil {
		return err
	}
	return w.explain(path, w.replace(name, content, info.Mode().Perm()))
}

// replace writes beside the file and renames, so that a full disk or a crash
// leaves the old content.
func (w *workdir) replace(name, content string, mode fs.FileMode) error {
	beside := filepath.Join(filepath.Dir(name), "."+rand.Text()+".tmp")
	f, err := w.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Chmod(mode) // what the umask took away
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = w.root.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(err, w.root.Remove(beside))
	}
	return nil
}

// writeThrough writes the file that a link leads to, if that is inside.
func (w *workdir) writeThrough(path, name, content string) error {
	info, err := w.root.Stat(name)
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return w.explain(path, err)
	}
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_TRUNC|nonBlocking, 0)
	if err != nil {
		return w.explain(path, err)
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}
