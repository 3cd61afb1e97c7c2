package task_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnlog/turnlog/loop/task"
)

// sharedExample is the annotated task file that the format was agreed with; it
// is not part of the repository.
func sharedExample(t *testing.T) (path string, data []byte) {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	path = filepath.Join(dir, "..", "shared", "task.example.yaml")
	data, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the shared example is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

// exampleFiles stands for the files that the example names.
func exampleFiles(path string) ([]byte, error) {
	switch filepath.Base(path) {
	case "style.md":
		return []byte("Short sentences.\n"), nil
	case "system.md":
		return []byte("You audit changelogs.\n"), nil
	case "audit.schema.json":
		return []byte(`{"type":"object","required":["missing"]}`), nil
	}
	return nil, fs.ErrNotExist
}

func TestExample(t *testing.T) {
	path, data := sharedExample(t)
	f, err := task.Parse(path, data, task.Options{Vars: map[string]string{"since": "v1.2.0"}, ReadFile: exampleFiles})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, one := range f.Tasks {
		ids = append(ids, strings.TrimPrefix(one.ID, "changelog-audit."))
	}
	if got, want := strings.Join(ids, " "), "main.dev.r1 main.dev.r2 main.dev.r3 main.ops.r1 main.ops.r2 main.ops.r3 offline.dev.r1 offline.dev.r2 offline.dev.r3"; got != want {
		t.Errorf("task ids\n got %s\nwant %s", got, want)
	}
}

func TestExampleNeedsItsVariable(t *testing.T) {
	path, data := sharedExample(t)
	_, err := task.Parse(path, data, task.Options{ReadFile: exampleFiles})
	if err == nil || !strings.Contains(err.Error(), `:11:3: the variable "since" has no value`) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestExampleAgainstSchema(t *testing.T) {
	_, data := sharedExample(t)
	if err := validate(t, data); err != nil {
		t.Error(err)
	}
	broken := bytes.Replace(data, []byte("tool_execution:"), []byte("tool_executions:"), 1)
	if err := validate(t, broken); err == nil {
		t.Error("the schema allows an unknown key")
	}
}
