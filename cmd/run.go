package cmd

import (
	"context"
	"errors"
	"math"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/loop/batch"
	"github.com/turnlog/turnlog/loop/batch/render"
	"github.com/turnlog/turnlog/loop/batch/report"
	"github.com/turnlog/turnlog/loop/journal"
	"github.com/turnlog/turnlog/loop/task"
)

type runOptions struct {
	Streams
	Args     []string
	Format   string
	Progress string
	Reports  []string // KIND[=PATH]
	Control  string   // "-" or nothing
	Sync     string
	Quiet    bool
	Answer   string

	// Of the tasks.
	Vars     []string
	VarFiles []string
	Model    string
	Limits   task.Limits

	Batch batch.Options
	Shard string
	Plan  bool
}

func newRun(s Streams, runF func(context.Context, *runOptions) error) *cobra.Command {
	o := &runOptions{Streams: s}
	c := &cobra.Command{
		Use:   "run FILE|DIR|GLOB...",
		Short: "Run tasks and keep their transcripts",
		Long: `run runs the tasks of YAML files: the files named, the *.yaml and *.yml files of
a folder, and what a pattern matches. Events go to stdout as NDJSON, the last
one is batch_end. Each task leaves a transcript, <task id>.jsonl, in the output
folder, and its line in results.ndjson.

A task that was finished in the output folder is kept with --resume, one that
was interrupted goes on where it stopped: nothing that changed anything runs
twice. A task that changed since is a new attempt, <task id>.try2.jsonl.

--control - reads commands from standard input while tasks run, one a line:
{"type":"steer","message":"..."} is heard after the turn, follow_up when the
agent would stop, {"type":"abort"} ends everything or one task. "task" says
whom, "id" comes back in the response event that answers each command. Standard
input is read for nothing else.

--report junit writes junit.xml to the output folder, --report github writes
annotations to stderr and a summary to $GITHUB_STEP_SUMMARY.

SIGINT and SIGTERM end the tasks under way: their open calls get results, the
transcripts their seals. A second signal ends the process at once. A batch has
the exit code that its failed tasks share, else 1.`,
		Example: `  turnlog run hello.yaml
  turnlog run tasks/ --out nightly --jobs 4
  turnlog run tasks/ --out nightly --resume
  turnlog run tasks/ --format text --report junit=results.xml
  turnlog run release.yaml --var since=v1.2.0 --max-cost-usd 0.50`,
		Annotations: map[string]string{"codes": codes(
			codeText{exitOK, "every task ended ok"},
			codeText{exitFound, "a task failed: an assertion, a check; or tasks failed differently"},
			codeText{exitUsage, "usage, or a task file that is not valid; nothing was started"},
			codeText{exitError, "provider, tool set-up, disk, closed stdout, internal error"},
			codeText{exitLimit, "a limit was reached"},
			codeText{exitDenied, "a call was denied, or the agent was stuck"},
			codeText{exitNoOutput, "the answer is missing"},
			codeText{exitSignalled + int(syscall.SIGINT), "stopped by SIGINT, or by an abort on --control"},
		)},
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Args = args
			return runF(c.Context(), o)
		},
	}
	o.flags(c)
	return c
}

func (o *runOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.Batch.Out, "out", "", "output `folder` (default runs/<UTC time>)")
	enumFlag(c, &o.Format, "format", "ndjson", "how stdout shows what happens", render.Formats())
	enumFlag(c, &o.Progress, "progress", progressAuto, "show progress on stderr", progressModes())
	f.StringArrayVar(&o.Reports, "report", nil, "report the tasks to CI, `KIND[=PATH]`: "+strings.Join(report.Kinds(), " or ")+"; may be repeated")
	f.StringVar(&o.Control, "control", "", "obey commands from `-`, standard input: steer, follow_up and abort as NDJSON")
	enumFlag(c, &o.Sync, "sync", string(journal.SyncTurn), "flush transcripts to disk after each of these", journal.Syncs())
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "no notes on stderr")
	f.StringVar(&o.Answer, "answer", "", "write the last answer to `FILE`; one task only")

	f.StringArrayVar(&o.Vars, "var", nil, "set a variable of the task files, `NAME=VALUE`")
	f.StringArrayVar(&o.VarFiles, "vars", nil, "set variables from a YAML or JSON `FILE`")
	f.StringVarP(&o.Model, "model", "m", "", "use another model: a `NAME` out of models, or one that the endpoint knows")
	f.IntVar(&o.Limits.Turns, "max-turns", 0, "limit the requests of each task")
	f.Int64Var(&o.Limits.Tokens, "max-tokens", 0, "limit the tokens of each task")
	f.Float64Var(&o.Limits.CostUSD, "max-cost-usd", 0, "limit the cost of each task")
	f.DurationVar(&o.Limits.Wall, "max-wall", 0, "limit the time of each task")
	limitFlag(c, "max-turns", func() bool { return o.Limits.Turns > 0 })
	limitFlag(c, "max-tokens", func() bool { return o.Limits.Tokens > 0 })
	limitFlag(c, "max-cost-usd", func() bool { return o.Limits.CostUSD > 0 && !math.IsInf(o.Limits.CostUSD, 1) })
	limitFlag(c, "max-wall", func() bool { return o.Limits.Wall > 0 })

	f.IntVarP(&o.Batch.Jobs, "jobs", "j", 0, "tasks at once (default: what the files say, or 1)")
	f.StringVar(&o.Batch.Only, "only", "", "run the tasks whose id matches `GLOB`")
	f.StringVar(&o.Shard, "shard", "", "run part `i/n` of the tasks; by default CI_NODE_INDEX and CI_NODE_TOTAL say which, /n takes JOB_COMPLETION_INDEX")
	f.BoolVar(&o.Batch.Resume, "resume", false, "keep what is finished in --out and go on with the rest")
	f.BoolVar(&o.Batch.RetryErrors, "retry-errors", false, "with --resume: run tasks that ended as error again")
	f.BoolVar(&o.Batch.FailFast, "fail-fast", false, "start no task after one that did not end ok")
	f.BoolVar(&o.Plan, "plan", false, "check everything and print what would run; start nothing")
}

func runRun(ctx context.Context, o *runOptions) error {
	reports, err := o.reports()
	if err != nil {
		return err
	}
	if err := o.read(); err != nil {
		return err
	}
	if o.Plan {
		tasks, bound, err := batch.Plan(o.Batch)
		if err != nil {
			return planError(err)
		}
		return render.Plan(o.Format, o.Out, tasks, bound)
	}
	if o.Batch.Out == "" {
		if o.Batch.Out, err = batch.NewFolder(time.Now()); err != nil {
			return err
		}
	}
	sum, err := o.start(ctx)
	if planned := planError(err); planned != err {
		return planned
	}
	err = errors.Join(err, o.writeReports(reports, &sum))
	if err == nil && o.Answer != "" {
		err = o.writeAnswer(&sum)
	}
	if !o.Quiet {
		o.note(&sum)
	}
	if err == nil && sum.ExitCode != exitOK {
		return outcome(sum.ExitCode)
	}
	return err
}

// planError makes a usage error of what kept a batch from being started.
func planError(err error) error {
	var plan *batch.PlanError
	if errors.As(err, &plan) {
		return usagef("%w", plan.Err)
	}
	return err
}

// start runs the batch, shows its events and obeys commands.
func (o *runOptions) start(ctx context.Context) (batch.Summary, error) {
	sinks, done, err := o.sinks()
	if err != nil {
		return batch.Summary{}, err
	}
	defer done()
	ctx, abort := context.WithCancelCause(ctx)
	defer abort(nil)
	o.Batch.Sink = sinks
	if o.Control != "" { // no other part of a run reads stdin
		o.Batch.Control = batch.NewControl(sinks, abort)
		defer o.Batch.Control.Listen(ctx, o.Input, func(err error) { complain(o.Err, err) })()
	}
	return batch.Run(ctx, o.Batch)
}
