package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Path is where attempt k of a task is written.
func Path(out, id string, k int) string {
	if k > 1 {
		id = fmt.Sprintf("%s.try%d", id, k)
	}
	return filepath.Join(out, id+".jsonl")
}

// Attempts counts the attempts at a task that have a transcript.
func Attempts(out, id string) (int, error) {
	for k := 1; ; k++ {
		name := Path(out, id, k)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return k - 1, nil
		}
		info, err := os.Stat(name) // a link that leads nowhere is in the way, too
		if err != nil {
			return 0, err
		}
		if !info.Mode().IsRegular() { // opening a named pipe would wait for ever
			return 0, fmt.Errorf("%s is in the way of a transcript: it is no regular file", name)
		}
	}
}
