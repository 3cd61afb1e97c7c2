// Package cmd is the command line: flags, configuration, exit codes. Every
// command file has the same three parts: xOptions, newX, which fills them from
// flags, and xRun, which calls a library and renders what it says.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/loop/tool/process"
)

// commands is the table of commands.
func commands(s Streams) []*cobra.Command {
	return []*cobra.Command{
		newRun(s, runRun),
		newReplay(s, replayRun),
		newVerify(s, verifyRun),
		newDiff(s, diffRun),
		newSchema(s, schemaRun),
		newVersion(s, versionRun),
		newCompletion(s, completionRun),
	}
}

// Main runs one command and returns its exit code.
func Main(ctx context.Context, args []string, s Streams) (code int) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.Err, "turnlog: error: internal error: %v\n%s", p, debug.Stack())
			code = exitError
		}
	}()
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	complain(s.Err, err)
	return exitCode(ctx, err)
}

func newRoot(s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "turnlog",
		Short: "Run headless agents; replay, verify and diff their transcripts",
		Long: `turnlog runs headless LLM agents from YAML task files, emits what happens as
NDJSON and keeps every run as an append-only JSONL transcript. Afterwards it
rebuilds what the model had at any point, finds contradictions, and says where
two histories part.`,
		Example: `  turnlog run task.yaml                 # events on stdout, transcript under runs/
  turnlog verify runs/                  # exit 1 if a transcript contradicts itself
  turnlog replay run.jsonl --at turn:2  # what the model had when request 2 went out`,
		Annotations:        map[string]string{"codes": codes()},
		Args:               cobra.ArbitraryArgs,
		RunE:               func(c *cobra.Command, args []string) error { return unknownCommand(c, args) },
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // cobra prints them beside our own errors
		CompletionOptions:  cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE:  func(c *cobra.Command, _ []string) error { return configure(c, s) },
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetUsageTemplate(strings.TrimRight(root.UsageTemplate(), "\n") +
		"{{with index .Annotations \"codes\"}}\n\nExit codes:\n{{.}}{{end}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w", err).hint("%s --help lists the flags", c.CommandPath())
	})
	root.SetHelpCommand(newHelp(root))
	for _, c := range commands(s) {
		c.Args = asUsage(c.Args)
		root.AddCommand(c)
	}
	return root
}

// unknownCommand answers a call without a command that exists. Cobra would
// print the help and succeed, and a script with a typo would go on.
func unknownCommand(root *cobra.Command, args []string) error {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	known := strings.Join(names, ", ")
	if len(args) == 0 {
		return usagef("no command").hint("commands: %s; turnlog COMMAND --help explains one", known)
	}
	u := usagef("unknown command %q", args[0])
	root.SuggestionsMinimumDistance = 2
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return u.hint("did you mean %s?", strings.Join(near, " or "))
	}
	return u.hint("commands: %s", known)
}

// asUsage makes mistakes in positional arguments usage errors.
func asUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			check = cobra.NoArgs
		}
		err := check(c, args)
		var u *usageError
		if err == nil || errors.As(err, &u) {
			return err
		}
		return usagef("%s: %w", c.Name(), err).hint("usage: %s", c.UseLine())
	}
}

// newHelp is cobra's help command, except that an unknown topic is an error.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Explain a command",
		Example: "  turnlog help verify",
		Annotations: map[string]string{
			"codes": codes(),
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(root, args)
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// untilSignal ends the context at the first SIGINT or SIGTERM, with a
// [signalError] as its cause; the second one ends the process and its children,
// whatever hangs.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)

	// A write to a closed stdout must come back as an error, so that a run can
	// end its transcript. Notify does that; Ignore would too, but tools that
	// are started later would inherit it.
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)

	done := make(chan struct{})
	go func() {
		var heard firstSignal
		for {
			select {
			case sig := <-signals:
				s := sig.(syscall.Signal)
				if heard.again(s, time.Now()) {
					process.EndChildren() // a tool that ignores SIGTERM would outlive us
					os.Exit(exitSignalled + int(s))
				}
				cancel(signalError(s)) // the first cause stays
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(pipes)
		close(done)
		cancel(nil)
	}
}
