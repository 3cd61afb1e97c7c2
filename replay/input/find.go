// Package input finds and opens what a command line names: files, folders,
// patterns, and - for standard input.
package input

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// File is a file to look at.
type File struct {
	Name  string // - is standard input
	Stdin bool
	Named bool   // an argument, not found in a folder
	Note  string // why it is not read although nothing is wrong
	Err   error  // why it cannot be read
}

// Find finds the files that arguments mean: files, folders with all below
// them, patterns, and - for standard input. The result is sorted by name and
// has each file once. An error is a mistake in the arguments.
func Find(args []string) ([]File, error) {
	var named, inside []File
	for _, arg := range args {
		if arg == "-" {
			named = append(named, File{Name: "-", Stdin: true, Named: true})
			continue
		}
		paths, err := Expand(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			path = filepath.Clean(path)
			if info, err := os.Stat(path); err != nil || !info.IsDir() {
				named = append(named, File{Name: path, Named: true, Err: err})
			} else {
				inside = append(inside, below(path)...)
			}
		}
	}
	// A file that is named and in a named folder counts as named.
	found := append(named, inside...)
	slices.SortStableFunc(found, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	found = slices.CompactFunc(found, func(a, b File) bool { return a.Name == b.Name })
	if len(found) == 0 {
		return nil, fmt.Errorf("no files in %s", strings.Join(args, ", "))
	}
	return found, nil
}

// Expand resolves a pattern. A name that exists is no pattern, whatever
// characters it has. An error is a mistake in the pattern.
func Expand(arg string) ([]string, error) {
	if _, err := os.Lstat(arg); err == nil || !strings.ContainsAny(arg, "*?[") {
		return []string{arg}, nil
	}
	paths, err := filepath.Glob(arg)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", arg, err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no file matches %q", arg)
	}
	return paths, nil
}

// below returns the files of a folder. What cannot be read is listed.
func below(folder string) (found []File) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			found = append(found, File{Name: path, Err: err})
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case !d.IsDir():
			note, err := unread(path)
			found = append(found, File{Name: path, Note: note, Err: err})
		}
		return nil
	})
	return found
}

// unread says why a file in a folder is not read, "" if it is. Links are
// followed to files only, so that no walk goes in circles, and other kinds of
// files a read could wait for forever.
func unread(path string) (note string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "a link to nothing", nil
	case err != nil:
		return "", err
	case info.IsDir():
		return "a link to a folder, not followed", nil
	case !info.Mode().IsRegular():
		return "not a regular file", nil
	}
	return "", nil
}
