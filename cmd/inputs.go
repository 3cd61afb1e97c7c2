package cmd

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// input is a file to look at.
type input struct {
	name  string // in reports
	path  string
	stdin bool
	named bool   // an argument, not found in a folder
	note  string // why it is not read although nothing is wrong
	err   error  // why it cannot be read
}

// collect finds the files that arguments mean: files, folders with all below
// them, patterns, and - for standard input. The result is sorted by name and
// has each file once.
func collect(args []string) ([]input, error) {
	var found []input
	for _, arg := range args {
		if arg == "-" {
			found = append(found, input{name: "-", stdin: true, named: true})
			continue
		}
		paths, err := expand(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			found = append(found, lookAt(path)...)
		}
	}
	slices.SortStableFunc(found, func(a, b input) int {
		// A file that is named and in a named folder counts as named.
		return cmp.Or(cmp.Compare(a.name, b.name), boolCompare(b.named, a.named))
	})
	found = slices.CompactFunc(found, func(a, b input) bool { return a.name == b.name })
	if len(found) == 0 {
		return nil, usagef("no files in %s", strings.Join(args, ", "))
	}
	return found, nil
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// expand resolves a pattern. A name that exists is no pattern, whatever
// characters it has.
func expand(arg string) ([]string, error) {
	if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[") {
		return []string{arg}, nil
	}
	paths, err := filepath.Glob(arg)
	if err != nil {
		return nil, usagef("pattern %q: %w", arg, err)
	}
	if len(paths) == 0 {
		return nil, usagef("no file matches %q", arg)
	}
	return paths, nil
}

// lookAt returns a file, or the files below a folder.
func lookAt(path string) []input {
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil {
		return []input{{name: path, path: path, named: true, err: err}}
	}
	if !info.IsDir() {
		return []input{regular(input{name: path, path: path, named: true}, info)}
	}
	var found []input
	// The callback returns no error but SkipDir: what cannot be read is listed.
	_ = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			found = append(found, input{name: path, path: path, err: err})
			return skipFolder(d)
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case !d.IsDir():
			found = append(found, below(path))
		}
		return nil
	})
	return found
}

func skipFolder(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return filepath.SkipDir
	}
	return nil
}

// below is a file in a folder; links are followed to files only, so that no
// walk goes in circles.
func below(path string) input {
	in := input{name: path, path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		in.note = "a link to nothing"
	case err != nil:
		in.err = err
	case info.IsDir():
		in.note = "a link to a folder, not followed"
	default:
		return regular(in, info)
	}
	return in
}

// regular refuses what a read could wait for forever.
func regular(in input, info fs.FileInfo) input {
	if !info.Mode().IsRegular() && !in.named {
		in.note = "not a regular file"
	}
	return in
}
