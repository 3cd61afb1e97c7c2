package results

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/turnlog/turnlog/replay/transcript"
)

// version is that of the results file.
const version = 1

// head is the first line of a results file.
type head struct {
	Type    string `json:"type"` // results
	Version int    `json:"version"`
	Batch   string `json:"batch"`
	Started string `json:"started"`
	Shard   string `json:"shard,omitempty"`
}

// line is every other line.
type line struct {
	Type string `json:"type"` // task
	Result
}

// Batch is what a results file says of its batch.
type Batch struct {
	ID      string
	Started string
	Shard   string // i/n, or "" for the whole
}

// File is a results file that is appended to.
type File struct {
	mu   sync.Mutex
	file *os.File
	mask func([]byte) []byte
}

// fileName is the file of the shard, or of the whole batch.
func fileName(shard string) string {
	if shard == "" {
		return "results.ndjson"
	}
	return "results." + strings.Replace(shard, "/", "-of-", 1) + ".ndjson"
}

// Open opens the results file of a folder; a new one gets its head first, and
// an open last line its end. mask hides secret values in a line.
func Open(dir string, b Batch, mask func([]byte) []byte) (*File, error) {
	file, err := os.OpenFile(filepath.Join(dir, fileName(b.Shard)), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the results file: %w", err)
	}
	f := &File{file: file, mask: mask}
	if err := f.begin(b); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func (f *File) begin(b Batch) error {
	info, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("open the results file: %w", err)
	}
	if info.Size() == 0 {
		return f.append(head{"results", version, b.ID, b.Started, b.Shard})
	}
	last := make([]byte, 1)
	if _, err := f.file.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return nil
	}
	if _, err := f.file.WriteString("\n"); err != nil {
		return fmt.Errorf("append to the results file: %w", err)
	}
	return nil
}

// Add appends the line of a task and flushes it: finished means finished.
func (f *File) Add(r Result) error {
	if err := f.append(line{"task", r}); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *File) append(v any) error {
	raw, err := transcript.JSON(v)
	if err != nil {
		return fmt.Errorf("encode a result: %w", err)
	}
	text := []byte(raw)
	if f.mask != nil {
		text = f.mask(text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("append to the results file: %w", err)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }
