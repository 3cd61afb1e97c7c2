package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Read reads every results*.ndjson of an output folder: the last line of a
// task wins. A line that is no result is skipped, as a crash may have cut it; a
// folder without such a file has no results.
func Read(dir string) (map[string]Result, error) {
	names, err := files(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]Result{}
	for _, name := range names {
		if err := read(name, func(text []byte) (more bool) {
			var l line
			if json.Unmarshal(text, &l) == nil && l.Type == "task" && l.ID != "" {
				all[l.ID] = l.Result
			}
			return true
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// BatchID is the id of the batch whose results a folder has, "" if there are
// none: a batch that is resumed is the same batch. Of several, that of the
// shard itself counts.
func BatchID(dir, shard string) (id string, err error) {
	names, err := files(dir)
	if err != nil {
		return "", err
	}
	if own := filepath.Join(dir, fileName(shard)); slices.Contains(names, own) {
		names = slices.Insert(names, 0, own)
	}
	for _, name := range names {
		if err := read(name, func(text []byte) (more bool) {
			var h head
			if json.Unmarshal(text, &h) == nil && h.Type == "results" {
				id = h.Batch
			}
			return false
		}); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

// files lists the results of a folder, in the order of their names.
// filepath.Glob would take brackets in the folder's own name for a pattern, and
// a folder may hold anything under such a name: a folder, a pipe.
func files(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list results: %w", err)
	}
	for _, e := range entries {
		if ok, _ := path.Match("results*.ndjson", e.Name()); !ok {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			names = append(names, name)
		}
	}
	return names, nil
}

// read hands over the lines of a file until each wants no more of them.
func read(name string, each func(text []byte) (more bool)) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer f.Close() // read only
	for r := bufio.NewReader(f); ; {
		text, err := r.ReadBytes('\n')
		if !each(text) || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
}
