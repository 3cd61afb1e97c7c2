package task

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnlog/turnlog/replay/input"
)

// Find resolves files, folders and patterns, each file once, in the order
// of the arguments and sorted within each.
func Find(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		paths, err := input.Expand(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			found, err := findAt(path, path == arg)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				if f = filepath.Clean(f); !slices.Contains(files, f) {
					files = append(files, f)
				}
			}
		}
	}
	return files, nil
}

// findAt is a file, or the YAML files of a folder; a folder without one
// is a mistake only if it was named.
func findAt(path string, named bool) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil // what is wrong with it is said when it is read
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}
	var files []string
	for _, e := range entries {
		ext := strings.ToLower(filepath.Ext(e.Name()))
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && (ext == ".yaml" || ext == ".yml") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	if named && len(files) == 0 {
		return nil, fmt.Errorf("no *.yaml or *.yml file in %s", path)
	}
	return files, nil
}
