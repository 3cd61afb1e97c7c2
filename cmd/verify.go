package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/replay/audit"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/input"
	"github.com/turnlog/turnlog/replay/report"
	"github.com/turnlog/turnlog/replay/report/workflow"
	"github.com/turnlog/turnlog/replay/verify"
	"github.com/turnlog/turnlog/replay/verify/rule"
)

type verifyOptions struct {
	Streams
	Args        []string
	Format      string
	InputFormat string // "" finds out

	Rules    []string // +ID, -ID
	Severity []string // ID=LEVEL
	FailOn   string   // a severity, or never
	Config   map[string]ruleSettings

	Baseline      string
	WriteBaseline string
	Anchor        string
	Slice         bool
	Finished      bool
	Progress      string

	Explain string
	List    bool
}

func newVerify(s Streams, runF func(context.Context, *verifyOptions) error) *cobra.Command {
	o := &verifyOptions{Streams: s}
	c := &cobra.Command{
		Use:   "verify FILE|DIR|GLOB|-...",
		Short: "Find contradictions in transcripts",
		Long: `verify reads transcripts and says what contradicts itself in them: calls of tools
that were removed, calls without results, damaged lines, rewritten history. It
never writes to what it reads. In a folder it looks at every file below it (.git
left out); what is no transcript is listed as unknown and does not fail, unless
it was named as an argument.`,
		Example: `  turnlog verify session.jsonl
  turnlog verify --fail-on warning runs/
  turnlog verify --format sarif runs/ > turnlog.sarif
  turnlog verify --explain removed-tool-call
  turnlog verify --write-baseline known.json runs/ && turnlog verify --baseline known.json runs/
  turnlog verify --anchor runs/results.ndjson runs/
  head -c 900 session.jsonl | turnlog verify -`,
		Annotations: map[string]string{"codes": codes(
			codeText{exitOK, "clean: no finding at or above --fail-on"},
			codeText{exitFound, "findings at or above --fail-on"},
			codeText{exitUsage, "usage, no such file, or a file of unknown format was named"},
			codeText{exitError, "a file could not be checked to its end: I/O, internal error"},
		)},
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			conf, err := readConfig(s)
			if err != nil {
				return err
			}
			if o.Config, err = conf.rules(); err != nil {
				return err
			}
			o.Args = args
			return runF(c.Context(), o)
		},
	}
	f := c.Flags()
	enumFlag(c, &o.Format, "format", "text", "how to report", report.Formats())
	enumFlag(c, &o.InputFormat, "input-format", "", "read files as this format (default: found out)", foreign.Names(0))
	enumFlag(c, &o.FailOn, "fail-on", "error", "least severity that makes exit code 1", []string{"error", "warning", "note", "never"})
	enumFlag(c, &o.Progress, "progress", progressAuto, "show progress on stderr", progressModes())
	f.StringSliceVar(&o.Rules, "rules", nil, "run `+ID`s too, leave -IDs out; an ID alone runs only what is named")
	f.StringSliceVar(&o.Severity, "severity", nil, "report a rule as error, warning, note or off: `ID=LEVEL`")
	f.StringVar(&o.Baseline, "baseline", "", "accept the findings that this `file` lists")
	f.StringVar(&o.WriteBaseline, "write-baseline", "", "write what is found to this `file`, and accept it")
	f.StringVar(&o.Anchor, "anchor", "", "`digest` of the file, or a results.ndjson with digests, that was kept elsewhere")
	f.BoolVar(&o.Slice, "slice", false, "files were cut out of longer ones: what they refer to may be elsewhere")
	f.BoolVar(&o.Finished, "finished", false, "the runs have ended: an open tail is damage, not a run still going on")
	f.StringVar(&o.Explain, "explain", "", "explain the rule with this `ID` and exit")
	f.BoolVar(&o.List, "list", false, "list the rules that would run and exit")
	return c
}

func verifyRun(ctx context.Context, o *verifyOptions) error {
	rules, options, err := o.rules()
	switch {
	case err != nil:
		return err
	case o.Explain != "":
		r, err := verify.Find(rule.All(), o.Explain)
		if err != nil {
			return usageWithin("--explain", err)
		}
		return report.Explain(o.Out, r, projectConfig)
	case o.List:
		return report.List(o.Out, o.Format, rules)
	case len(o.Args) == 0:
		return usagef("nothing to verify").hint("name files, folders or - for standard input")
	}
	files, err := input.Find(o.Args)
	if err != nil {
		return usagef("%w", err)
	}
	a := audit.Options{Stdin: o.In, Rules: rules, Verify: options}
	if o.FailOn != "never" {
		a.FailOn = verify.Severity(o.FailOn)
	}
	if a.Anchors, err = audit.ReadAnchors(o.Anchor, o.Args, files); err != nil {
		return usagef("--anchor: %w", err)
	}
	if a.Baseline, err = audit.OpenBaseline(o.Baseline, o.WriteBaseline); err != nil {
		return usagef("%w", err)
	}
	meta := report.Meta{Version: readBuild().Version, Rules: rules, FailOn: a.FailOn, Color: o.Color()}
	if o.Format == "github" {
		summary, room, err := workflow.OpenSummary(o.Env("GITHUB_STEP_SUMMARY"))
		if err != nil {
			return err
		}
		if summary != nil {
			defer summary.Close() // written at once by the renderer, which reports errors
			meta.StepSummary, meta.Room = summary, room
		}
	}
	if a.Render, err = report.New(o.Format, o.Out, meta); err != nil {
		return usagef("%w", err)
	}
	return o.audit(ctx, files, a)
}

// audit shows on stderr what the report does not say.
func (o *verifyOptions) audit(ctx context.Context, files []input.File, a audit.Options) error {
	progress := newProgress(o.Streams, o.Progress, len(files))
	defer progress.clear()
	a.Done = progress.step
	a.Problem = func(err error) {
		progress.clear()
		complain(o.Err, err)
	}
	a.Note = func(text string) {
		progress.clear()
		fmt.Fprintf(o.Err, "turnlog: note: %s\n", text)
	}
	verdict, err := audit.Run(ctx, files, a)
	if err == nil && verdict != audit.Clean {
		return outcome(verdict)
	}
	return err
}

// rules applies configuration and flags to the table of rules; flags win.
func (o *verifyOptions) rules() (rules []verify.Rule, options verify.Options, err error) {
	s := audit.Select(rule.All())
	for _, id := range slices.Sorted(maps.Keys(o.Config)) {
		if err := s.Configure(id, o.Config[id].Level, o.Config[id].Options); err != nil {
			return nil, options, usageWithin("rules."+id, err)
		}
	}
	for _, choice := range o.Severity {
		id, level, ok := strings.Cut(choice, "=")
		if !ok {
			return nil, options, usagef("--severity %s: want ID=LEVEL", choice)
		}
		if err := s.Level(id, level); err != nil {
			return nil, options, usageWithin("--severity", err)
		}
	}
	if rules, options, err = s.Choose(o.Rules); err != nil {
		return nil, options, usageWithin("--rules", err)
	}
	options.Format, options.Slice, options.Finished = o.InputFormat, o.Slice, o.Finished
	return rules, options, nil
}

// usageWithin makes an error about rules a usage error that says where it was
// made.
func usageWithin(where string, err error) error {
	u := usagef("%s: %w", where, err)
	var unknown *verify.UnknownRuleError
	if errors.As(err, &unknown) {
		return u.hint("turnlog verify --list lists the rules")
	}
	return u
}
