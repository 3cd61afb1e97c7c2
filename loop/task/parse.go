package task

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/turnlog/turnlog/loop/task/internal/table"
	builtins "github.com/turnlog/turnlog/loop/tool/builtin"
)

// Version is the major version of the task file format that is read here.
const Version = 1

// Options is what a task file is read with. The zero value knows no
// environment, and all providers and tools.
type Options struct {
	Vars       map[string]string           // values of variables; paths in them are relative to the process
	SharedVars bool                        // Vars go to several files: it is no error if this one does not declare them all
	Model      string                      // instead of the file's: a name out of models, or the name that the endpoint knows
	Env        func(string) (string, bool) // the environment; nil is empty
	ReadFile   func(string) ([]byte, error)
	Providers  []string       // that can be used; nil is all
	Builtins   builtins.Table // built-in tools that can be used; nil is all
	BatchID    string         // batch.id; it is part of the digests, so a resumed batch keeps it
}

// File is a task file, read and expanded.
type File struct {
	Path  string
	Tasks []Task   // in the order of matrix and repeat; never empty
	Vars  []string // names of the declared variables
	Batch Batch
}

// Error is one thing that is wrong in a task file, and where.
type Error = table.Error

// Errors is everything that is wrong in one or more task files, sorted by
// file and place.
type Errors = table.Errors

// format is what messages say of task files.
func format() table.Format {
	return table.Format{
		Name:     "task file",
		Smallest: "the smallest task has version, model and prompt",
		Second:   table.Problem{Msg: "a second YAML document: a file holds one task", Hint: "split it into several files, or use matrix"},
	}
}

// Load reads a task file. The error is [Errors] if the file could be read.
func Load(path string, o Options) (*File, error) {
	data, err := o.withDefaults().ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read task file: %w", err)
	}
	return Parse(path, data, o)
}

// LoadAll reads task files that run together: ids are unique over all of them,
// and every variable of o.Vars is declared in one of them at least. It reports
// all that is wrong in any of them.
func LoadAll(paths []string, o Options) ([]*File, error) {
	o.SharedVars = true
	var files []*File
	var all Errors
	var unread []error
	for _, path := range paths {
		f, err := Load(path, o)
		var found Errors
		switch {
		case errors.As(err, &found):
			all = append(all, found...)
		case err != nil:
			unread = append(unread, err)
		default:
			files = append(files, f)
		}
	}
	if len(all) > 0 {
		all.Sort()
		unread = append(unread, all)
	}
	if len(unread) > 0 {
		return nil, errors.Join(unread...)
	}
	return files, errors.Join(checkShared(files, o.Vars), Unique(files...))
}

// checkShared reports values for variables that no file declares.
func checkShared(files []*File, vars map[string]string) error {
	var known []string
	for _, f := range files {
		known = append(known, f.Vars...)
	}
	names := undeclared(vars, known)
	if len(names) == 0 {
		return nil
	}
	hint := table.Suggest(names[0], known, "variables")
	if hint != "" {
		hint = " (" + hint + ")"
	}
	return fmt.Errorf("a value is given to %q, which no task file declares under vars%s", names[0], hint)
}

// Parse reads a task file out of memory; name is its path, paths in the file
// are relative to that. The error is [Errors], with everything that is wrong.
func Parse(name string, data []byte, o Options) (*File, error) {
	r := newReader(table.Open(name, data, format()), o.withDefaults())
	if r.Root == nil {
		return nil, r.Err()
	}
	tasks := r.tasks()
	if r.Err() == nil {
		r.checkIDs(tasks)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return &File{Path: name, Tasks: tasks, Vars: r.scope.known, Batch: r.batch}, nil
}

func (o Options) withDefaults() Options {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	if o.ReadFile == nil {
		o.ReadFile = readFile
	}
	if o.Providers == nil {
		o.Providers = []string{OpenAI, Scripted, Recorded}
	}
	return o
}

// readFile reads no more than it takes to see that a file is too large.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, table.MaxText+1))
}
