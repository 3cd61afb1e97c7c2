package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/results"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
)

// read reads all that a run needs, before anything is started.
func (o *runOptions) read() (err error) {
	if err := o.check(); err != nil {
		return err
	}
	b := &o.Batch
	if b.Shard, err = batch.ParseShard(o.Shard, o.Env); err != nil {
		return usagef("--%w", err)
	}
	if b.Shard.N > 0 && o.Shard == "" && !o.Quiet {
		fmt.Fprintf(o.Err, "turnlog: shard %s of the tasks, as the environment says; --shard 1/1 runs all\n", b.Shard)
	}
	b.ID, b.Version, b.Sync = batch.NewID(time.Now()), readBuild().Version, journal.Sync(o.Sync)
	if b.Resume {
		// The id is part of what tasks may be made of, and so of their digests.
		id, err := results.BatchID(b.Out, b.Shard.String())
		if err != nil {
			return err
		}
		b.ID = cmp.Or(id, b.ID)
	}
	if b.Files, err = o.load(); err != nil {
		return err
	}
	if n := b.Count(); o.Answer != "" && n != 1 {
		return usagef("--answer takes the answer of one task, here are %d", n)
	}
	if b.Mask, err = batch.Secrets(b.Files, o.lookupEnv); err != nil {
		return usagef("%w", err)
	}
	return nil
}

// check finds what is wrong with flags by themselves. What cannot be written is
// said now, not when hours of work are done.
func (o *runOptions) check() error {
	switch {
	case o.Batch.Resume && o.Batch.Out == "":
		return usagef("--resume needs --out: the folder of the run to go on with")
	case o.Batch.RetryErrors && !o.Batch.Resume:
		return usagef("--retry-errors needs --resume")
	case o.Control != "" && o.Control != "-":
		return usagef("--control %q: commands are read from standard input only", o.Control).hint("--control -")
	case o.Batch.Jobs < 0:
		return usagef("--jobs cannot be negative")
	case o.Answer == "-":
		return usagef("--answer -: standard output has the events; name a file")
	}
	if _, err := path.Match(o.Batch.Only, ""); err != nil {
		return usagef("--only %q: %w", o.Batch.Only, err)
	}
	if info, err := os.Stat(o.Batch.Out); o.Batch.Out != "" && err == nil && !info.IsDir() {
		return usagef("--out %s: this is a file, and transcripts need a folder", o.Batch.Out)
	}
	if info, err := os.Stat(filepath.Dir(o.Answer)); o.Answer != "" && (err != nil || !info.IsDir()) {
		return usagef("--answer %s: no folder %s", o.Answer, filepath.Dir(o.Answer))
	}
	return nil
}

// load reads the task files.
func (o *runOptions) load() ([]*task.File, error) {
	paths, err := task.Find(o.Args)
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, err
	} else if err != nil {
		return nil, usagef("%w", err)
	}
	vars, err := o.vars()
	if err != nil {
		return nil, err
	}
	files, err := task.LoadAll(paths, task.Options{
		Vars: vars, Model: o.Model, Env: o.lookupEnv, BatchID: o.Batch.ID,
		Providers: provider.Names(),
	})
	if err != nil {
		return nil, usagef("%w", err)
	}
	for _, f := range files {
		for i := range f.Tasks { // flags win over the file
			l := &f.Tasks[i].Finish.Limits
			l.Turns, l.Tokens = cmp.Or(o.Limits.Turns, l.Turns), cmp.Or(o.Limits.Tokens, l.Tokens)
			l.CostUSD, l.Wall = cmp.Or(o.Limits.CostUSD, l.CostUSD), cmp.Or(o.Limits.Wall, l.Wall)
		}
	}
	return files, nil
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

// writeAnswer writes what the only task answered.
func (o *runOptions) writeAnswer(sum *batch.Summary) error {
	if len(sum.Results) != 1 {
		return nil
	}
	text := o.Batch.Mask.Text(sum.Results[0].Answer)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if err := os.WriteFile(o.Answer, []byte(text), 0o666); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}
