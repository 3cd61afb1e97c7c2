package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/replay/transcript"
)

// resultsVersion is the version of the results file.
const resultsVersion = 1

// Result is how one task ended, as its line in the results file and as the
// fields of task_end.
type Result struct {
	ID         string        `json:"id"`
	Status     policy.Status `json:"status"`
	Reason     string        `json:"reason,omitempty"`
	ExitCode   int           `json:"exitCode"`
	Attempt    int           `json:"attempt"` // 1, then one more per retry of the task
	Turns      int           `json:"turns"`
	ToolCalls  int           `json:"toolCalls"`
	Usage      Usage         `json:"usage"`
	CostUSD    float64       `json:"costUsd"`
	DurationMs int64         `json:"durationMs"`
	Transcript string        `json:"transcript,omitempty"` // path, relative to the output folder
	Digest     string        `json:"digest,omitempty"`     // of the transcript, all of its bytes
	TaskDigest string        `json:"taskDigest,omitempty"` // of the resolved task
	File       string        `json:"file,omitempty"`       // the task file

	Labels map[string]string `json:"labels,omitempty"` // of the task file; encoded in order of their names

	Assertions []Assertion `json:"assertions,omitempty"`

	Answer string `json:"-"` // the required answer, or the text of the last one
}

// Assertion is how one line of a task's assert section, or one check, went.
type Assertion struct {
	Name     string `json:"name"`
	Line     int    `json:"line,omitempty"` // in the task file
	OK       bool   `json:"ok"`
	Severity string `json:"severity,omitempty"` // warning: does not fail the task
	Message  string `json:"message,omitempty"`
}

// Usage is what the model's answers of a task, or of a batch, used.
type Usage struct {
	Input       int64 `json:"input"`
	Output      int64 `json:"output"`
	CacheRead   int64 `json:"cacheRead"`
	CacheWrite  int64 `json:"cacheWrite"`
	TotalTokens int64 `json:"totalTokens"`
}

// usageOf takes the counts out of what the fold summed up.
func usageOf(u transcript.Usage) Usage {
	return Usage{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.TotalTokens}
}

// add sums up.
func (u *Usage) add(o Usage) {
	u.Input += o.Input
	u.Output += o.Output
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.TotalTokens += o.TotalTokens
}

// resultsHead is the first line of a results file.
type resultsHead struct {
	Type    string `json:"type"` // results
	Version int    `json:"version"`
	Batch   string `json:"batch"`
	Started string `json:"started"`
	Shard   string `json:"shard,omitempty"`
}

// resultLine is every other line.
type resultLine struct {
	Type string `json:"type"` // task
	Result
}

// results appends to a results file: a line as each task ends, so that a crash
// of the batch loses no finished task.
type results struct {
	mu   sync.Mutex
	file *os.File
	mask func([]byte) []byte
}

// resultsName is the file of the shard, or of the whole batch.
func resultsName(s Shard) string {
	if s.N == 0 {
		return "results.ndjson"
	}
	return fmt.Sprintf("results.%d-of-%d.ndjson", s.I, s.N)
}

// openResults opens a file for appending; a new one gets its head first, and
// an open last line its end.
func openResults(path string, head resultsHead, mask func([]byte) []byte) (*results, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the results file: %w", err)
	}
	r := &results{file: f, mask: mask}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the results file: %w", err), f.Close())
	}
	if info.Size() == 0 {
		if err := r.append(head); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return r, nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
		_, err = f.WriteString("\n")
		if err != nil {
			return nil, errors.Join(fmt.Errorf("append to the results file: %w", err), f.Close())
		}
	}
	return r, nil
}

// add appends the line of a task and flushes it: finished means finished.
func (r *results) add(res Result) error {
	if err := r.append(resultLine{"task", res}); err != nil {
		return err
	}
	return r.file.Sync()
}

func (r *results) append(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a secret with & in it is looked for as it is
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode a result: %w", err)
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if r.mask != nil {
		line = r.mask(line)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append to the results file: %w", err)
	}
	return nil
}

func (r *results) close() error { return r.file.Close() }

// ResultsID is the id of the batch whose results a folder has, "" if there are
// none: a batch that is resumed is the same batch. Of several, that of the
// shard itself counts.
func ResultsID(dir string, s Shard) (string, error) {
	names, err := resultsFiles(dir)
	if err != nil {
		return "", err
	}
	own := filepath.Join(dir, resultsName(s))
	if i := slices.Index(names, own); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, own)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("read results: %w", err)
		}
		line, err := bufio.NewReader(f).ReadBytes('\n')
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		var head resultsHead
		if (err == nil || errors.Is(err, io.EOF)) && json.Unmarshal(line, &head) == nil && head.Type == "results" {
			return head.Batch, nil
		}
	}
	return "", nil
}

// resultsFiles lists the results of a folder, in the order of their names.
// filepath.Glob would take brackets in the folder's own name for a pattern, and
// a folder may hold anything under such a name: a folder, a pipe.
func resultsFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list results: %w", err)
	}
	var names []string
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

// ReadResults reads every results*.ndjson of an output folder: the last line
// of a task wins. A line that is no result is skipped, as a crash may have cut
// it; a folder without such a file has no results.
func ReadResults(dir string) (map[string]Result, error) {
	names, err := resultsFiles(dir)
	if err != nil {
		return nil, err
	}
	all := map[string]Result{}
	for _, name := range names {
		if err := readResults(name, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func readResults(name string, into map[string]Result) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		var res resultLine
		if json.Unmarshal(line, &res) == nil && res.Type == "task" && res.ID != "" {
			into[res.ID] = res.Result
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
}
