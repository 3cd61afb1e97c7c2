package cmd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
)

// batch reads all that a run needs, before anything is started.
func (o *runOptions) batch() (batch.Options, error) {
	var opts batch.Options
	if err := o.check(); err != nil {
		return opts, err
	}
	shard, err := batch.ParseShard(o.Shard, o.Env)
	if err != nil {
		return opts, usagef("--%w", err)
	}
	if shard.N > 0 && o.Shard == "" && !o.Quiet {
		fmt.Fprintf(o.Err, "turnlog: shard %s of the tasks, as the environment says; --shard 1/1 runs all\n", shard)
	}
	opts = batch.Options{
		Out: o.Folder, ID: batch.NewID(time.Now()), Version: readBuild().Version,
		Sync: journal.Sync(o.Sync),
		Jobs: o.Jobs, FailFast: o.FailFast, Only: o.Only, Shard: shard,
		Resume: o.Resume, RetryErrors: o.RetryErrors,
	}
	if o.Resume {
		// The id is part of what tasks may be made of, and so of their digests.
		id, err := batch.ResultsID(o.Folder, shard)
		if err != nil {
			return opts, err
		}
		if id != "" {
			opts.ID = id
		}
	}
	if opts.Files, err = o.load(opts.ID); err != nil {
		return opts, err
	}
	if n := o.countTasks(opts.Files, shard); o.Answer != "" && n != 1 {
		return opts, usagef("--answer takes the answer of one task, here are %d", n)
	}
	if opts.Mask, err = batch.Secrets(opts.Files, o.lookupEnv); err != nil {
		return opts, usagef("%w", err)
	}
	return opts, nil
}

// check finds what is wrong with flags by themselves. What cannot be written is
// said now, not when hours of work are done.
func (o *runOptions) check() error {
	switch {
	case o.Resume && o.Folder == "":
		return usagef("--resume needs --out: the folder of the run to go on with")
	case o.RetryErrors && !o.Resume:
		return usagef("--retry-errors needs --resume")
	case o.Control != "" && o.Control != "-":
		return usagef("--control %q: commands are read from standard input only", o.Control).hint("--control -")
	case o.Jobs < 0:
		return usagef("--jobs cannot be negative")
	case o.Answer == "-":
		return usagef("--answer -: standard output has the events; name a file")
	}
	if _, err := path.Match(o.Only, ""); err != nil {
		return usagef("--only %q: %w", o.Only, err)
	}
	if info, err := os.Stat(o.Folder); o.Folder != "" && err == nil && !info.IsDir() {
		return usagef("--out %s: this is a file, and transcripts need a folder", o.Folder)
	}
	if info, err := os.Stat(filepath.Dir(o.Answer)); o.Answer != "" && (err != nil || !info.IsDir()) {
		return usagef("--answer %s: no folder %s", o.Answer, filepath.Dir(o.Answer))
	}
	return nil
}

// countTasks counts the tasks that are to run.
func (o *runOptions) countTasks(files []*task.File, shard batch.Shard) (n int) {
	for _, f := range files {
		for i := range f.Tasks {
			id := f.Tasks[i].ID
			if ok, _ := path.Match(o.Only, id); (ok || o.Only == "") && shard.Has(id) {
				n++
			}
		}
	}
	return n
}

// load reads the task files.
func (o *runOptions) load(batchID string) ([]*task.File, error) {
	paths, err := taskFiles(o.Args)
	if err != nil {
		return nil, err
	}
	vars, err := o.vars()
	if err != nil {
		return nil, err
	}
	files, err := task.LoadAll(paths, task.Options{
		Vars: vars, Model: o.Model, Env: o.lookupEnv, BatchID: batchID,
		Providers: provider.Names(),
	})
	if err != nil {
		return nil, usagef("%w", err)
	}
	for _, f := range files {
		for i := range f.Tasks {
			o.limit(&f.Tasks[i].Finish.Limits)
		}
	}
	return files, nil
}

// limit lets flags win over the file.
func (o *runOptions) limit(l *task.Limits) {
	if o.MaxTurns > 0 {
		l.Turns = o.MaxTurns
	}
	if o.MaxTokens > 0 {
		l.Tokens = o.MaxTokens
	}
	if o.MaxCostUSD > 0 {
		l.CostUSD = o.MaxCostUSD
	}
	if o.MaxWall > 0 {
		l.Wall = o.MaxWall
	}
}

// vars are the variables of all files, then those of the command line.
func (o *runOptions) vars() (map[string]string, error) {
	vars := map[string]string{}
	for _, name := range o.VarFiles {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, usagef("--vars: %w", err)
		}
		some, err := task.ParseVars(name, data)
		if err != nil {
			return nil, usagef("%w", err)
		}
		maps.Copy(vars, some)
	}
	for _, v := range o.Vars {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, usagef("--var %q: want NAME=VALUE", v)
		}
		vars[name] = value
	}
	return vars, nil
}

// lookupEnv is the environment as task files see it: a variable that is empty
// is not set.
func (o *runOptions) lookupEnv(name string) (string, bool) {
	v := o.Env(name)
	return v, v != ""
}

// taskFiles resolves files, folders and patterns, each file once, in the order
// of the arguments and sorted within each.
func taskFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		paths, err := expand(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			found, err := taskFilesAt(path, path == arg)
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

// taskFilesAt is a file, or the YAML files of a folder; a folder without one
// is a mistake only if it was named.
func taskFilesAt(path string, named bool) ([]string, error) {
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
		return nil, usagef("no *.yaml or *.yml file in %s", path)
	}
	return files, nil
}

// outTime is the form of the default output folder's name.
const outTime = "20060102T150405Z"

// newFolder makes the default output folder. It has the time in its name, and
// a number if two runs start within a second.
func newFolder(now time.Time) (string, error) {
	if err := os.MkdirAll("runs", 0o700); err != nil {
		return "", fmt.Errorf("make the output folder: %w", err)
	}
	base := filepath.Join("runs", now.UTC().Format(outTime))
	for n := 1; ; n++ {
		folder := base
		if n > 1 {
			folder = fmt.Sprintf("%s-%d", base, n)
		}
		err := os.Mkdir(folder, 0o700)
		if err == nil {
			return folder, nil
		}
		if !errors.Is(err, os.ErrExist) {
			return "", fmt.Errorf("make the output folder: %w", err)
		}
	}
}

// writeAnswer writes what the only task answered.
func (o *runOptions) writeAnswer(opts batch.Options, sum batch.Summary) error {
	if len(sum.Results) != 1 {
		return nil
	}
	text := opts.Mask.Text(sum.Results[0].Answer)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if err := os.WriteFile(o.Answer, []byte(text), 0o666); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}
