package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/policy"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/provider"
	"github.com/turnlog/turnlog/loop/task"
	"github.com/turnlog/turnlog/loop/tool"
)

type runOptions struct {
	Streams
	Files  []string
	Folder string
	Sync   string
	Quiet  bool
}

// outTime is the form of the default output folder's name.
const outTime = "20060102T150405Z"

func newRun(s Streams, runF func(context.Context, *runOptions) error) *cobra.Command {
	o := &runOptions{Streams: s}
	c := &cobra.Command{
		Use:   "run FILE|DIR|GLOB...",
		Short: "Run tasks and keep their transcripts",
		Long: `run runs the tasks of YAML files: the files named, the *.yaml and *.yml files of
a folder, and what a pattern matches. Events go to stdout as NDJSON, the last
one is batch_end. Each task leaves a transcript, <task id>.jsonl, in the output
folder, and its line in results.ndjson.

SIGINT and SIGTERM end the tasks under way: their open calls get results, the
transcripts their seals. A second signal ends the process at once. A batch has
the exit code that its failed tasks share, else 1.`,
		Example: `  turnlog run hello.yaml
  turnlog run tasks/ --out nightly`,
		Annotations: map[string]string{"codes": codes(
			codeText{exitOK, "every task ended ok"},
			codeText{exitFound, "a task failed: an assertion, a check; or tasks failed differently"},
			codeText{exitUsage, "usage, or a task file that is not valid; nothing was started"},
			codeText{exitError, "provider, tool set-up, disk, closed stdout, internal error"},
			codeText{exitLimit, "a limit was reached"},
			codeText{exitDenied, "a call was denied, or the agent was stuck"},
			codeText{exitNoOutput, "the answer is missing"},
		)},
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := configure(c, s); err != nil {
				return err
			}
			o.Files = args
			return runF(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Folder, "out", "", "output `folder` (default runs/<UTC time>)")
	enumFlag(c, &o.Sync, "sync", string(journal.SyncTurn), "flush transcripts to disk after each of these", journal.Syncs())
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "no notes on stderr")
	return c
}

func runRun(ctx context.Context, o *runOptions) error {
	tasks, err := loadTasks(o)
	if err != nil {
		return err
	}
	folder, err := outFolder(o.Folder, time.Now())
	if err != nil {
		return err
	}
	sum, err := batch.Run(ctx, batch.Options{
		Tasks: tasks, Out: folder, Sync: journal.Sync(o.Sync), Version: readBuild().Version,
		Sink: &batch.NDJSON{W: o.Out},
	})
	var plan *batch.PlanError
	if errors.As(err, &plan) {
		return usagef("%w", plan.Err)
	}
	if !o.Quiet {
		noteRun(o, folder, sum)
	}
	if err != nil {
		return err
	}
	if sum.ExitCode != exitOK {
		return outcome(sum.ExitCode)
	}
	return nil
}

// noteRun says on stderr what became of the tasks, those that did not end well
// by name.
func noteRun(o *runOptions, folder string, sum batch.Summary) {
	for i := range sum.Results {
		if r := &sum.Results[i]; r.Status != policy.OK {
			fmt.Fprintf(o.Err, "turnlog: task %s: %s: %s\n", r.ID, r.Status, cmp.Or(r.Reason, "no reason given"))
		}
	}
	fmt.Fprintf(o.Err, "turnlog: %d of %d tasks ok, transcripts in %s\n", sum.Counts[string(policy.OK)], sum.Tasks, folder)
}

// outFolder is where a run writes. The default has the time in its name, and a
// number if two runs start within a second.
func outFolder(named string, now time.Time) (string, error) {
	if named != "" {
		return named, nil
	}
	base := filepath.Join("runs", now.UTC().Format(outTime))
	if err := os.MkdirAll("runs", 0o700); err != nil {
		return "", fmt.Errorf("make the output folder: %w", err)
	}
	for n := 1; ; n++ {
		folder := base
		if n > 1 {
			folder = fmt.Sprintf("%s-%d", base, n)
		}
		err := os.Mkdir(folder, 0o700)
		if err == nil || !errors.Is(err, os.ErrExist) {
			return folder, err
		}
	}
}

// loadTasks reads all task files before anything is started.
func loadTasks(o *runOptions) ([]task.Task, error) {
	files, err := taskFiles(o.Files)
	if err != nil {
		return nil, err
	}
	loaded, err := task.LoadAll(files, task.Options{
		Env:       lookupEnv(o.Streams),
		Providers: provider.Names(),
		Tools:     tool.Names(),
	})
	if err != nil {
		return nil, usagef("%w", err)
	}
	var tasks []task.Task
	for _, f := range loaded {
		tasks = append(tasks, f.Tasks...)
	}
	return tasks, nil
}

// lookupEnv is the environment as task files see it: a variable that is empty
// is not set.
func lookupEnv(s Streams) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v := s.Env(name)
		return v, v != ""
	}
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
				if !slices.Contains(files, f) {
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
