package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/turnlog/turnlog/loop/tool"
)

// workdir is the directory that file tools are confined to.
type workdir struct {
	dir     string // absolute
	maximum int64  // bytes of a result
	root    *os.Root
}

// openWorkdir gives access to the files below the working directory, until
// close. Each call opens it anew, so that a tool holds nothing between calls.
func openWorkdir(o tool.Options) (*workdir, error) {
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open working directory: %w", err)
	}
	return &workdir{o.Dir, o.MaxOutput, root}, nil
}

func (w *workdir) close() { _ = w.root.Close() } // nothing is written through a directory

// local turns a path that the model gave into one below the directory. It may
// be absolute, if it leads there.
func (w *workdir) local(path string) (string, error) {
	name := filepath.Clean(path)
	if path == "" || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q is not a path", path)
	}
	if filepath.IsAbs(name) {
		below, ok := w.below(name)
		if !ok {
			return "", w.outside(path)
		}
		name = below
	}
	if !filepath.IsLocal(name) {
		return "", w.outside(path)
	}
	return name, nil
}

// below makes an absolute path relative. The directory may itself have been
// reached through a link, and models know it by either name.
func (w *workdir) below(name string) (string, bool) {
	dirs := []string{w.dir}
	if real, err := filepath.EvalSymlinks(w.dir); err == nil {
		dirs = append(dirs, real)
	}
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

func (w *workdir) outside(path string) error {
	return fmt.Errorf("access denied: %s is outside of the working directory %s; give a path inside of it", path, w.dir)
}

// explain says of a failed operation what the model can act on.
func (w *workdir) explain(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "path escapes from parent"): // os has no exported error for it
		return fmt.Errorf("access denied: a link in %s leads out of the working directory %s (absolute links are not followed)", path, w.dir)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no such file or directory: %s", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("permission denied: %s", path)
	default:
		return err
	}
}

// open opens a regular file for reading. Anything else is refused before it is
// opened: a pipe would make the call wait for a writer.
func (w *workdir) open(path string) (*os.File, fs.FileInfo, error) {
	name, err := w.local(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := w.root.Stat(name)
	if err != nil {
		return nil, nil, w.explain(path, err)
	}
	if err := regular(path, info); err != nil {
		return nil, nil, err
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, w.explain(path, err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

func regular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("%s is a directory; list it with ls", path)
	default:
		return fmt.Errorf("%s is not a regular file but %s", path, mode.Type())
	}
}
