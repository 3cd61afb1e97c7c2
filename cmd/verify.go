package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/report"
	"github.com/turnlog/turnlog/replay/verify"
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
		return explain(o)
	case o.List:
		return list(o, rules)
	case len(o.Args) == 0:
		return usagef("nothing to verify").hint("name files, folders or - for standard input")
	}
	inputs, err := collect(o.Args)
	if err != nil {
		return err
	}
	v, err := newVerification(o, inputs, rules, options)
	if err != nil {
		return err
	}
	defer v.close()
	workers := runtime.GOMAXPROCS(0)
	v.options.Workers = max(1, workers/len(inputs))
	for file := range ordered(ctx, inputs, workers, v.check) {
		if err := v.report(file); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return v.finish()
}

// check verifies one file. It is called concurrently.
func (v *verification) check(ctx context.Context, in input) report.File {
	result, err := v.verify(ctx, in)
	result.Summary.File = in.name
	if anchor := v.anchors.digest(in); anchor != "" && err == nil {
		switch {
		case result.Summary.Format == "unknown":
			result.Findings = append(result.Findings, v.anchors.finding(in.name, "the transcript is none any more", anchor))
		case result.Summary.Digest == "":
			err = fmt.Errorf("check %s: its digest was not compared", in.name)
		}
	}
	return report.File{Summary: result.Summary, Findings: result.Findings, Err: err}
}

func (v *verification) verify(ctx context.Context, in input) (result verify.Result, err error) {
	unknown := verify.Result{Summary: verify.Summary{Format: "unknown", Knowledge: verify.Unknown, Seal: verify.SealNone}}
	if in.err != nil || in.note != "" {
		if in.note != "" {
			unknown.Summary.Notes = []string{in.note}
		}
		return unknown, in.err
	}
	options := v.options
	options.Anchor = v.anchors.digest(in)
	r, at := v.o.rereadable(ctx)
	if !in.stdin {
		var f *os.File
		if f, r, at, err = openInput(ctx, in.path); err != nil {
			return unknown, err
		}
		defer f.Close() // read only: nothing to lose
	}
	if at == nil {
		s := &spool{r: r}
		defer func() { err = errors.Join(err, s.Close()) }()
		r, at = s, s
	}
	return verify.Run(ctx, verify.Source{Name: in.name, Reader: r, At: at}, v.rules, options)
}

// judge turns what became of one file into an exit code. Not having checked a
// file weighs more than what was found in another. The report may be for
// machines, so what went wrong is said on stderr as well.
func (v *verification) judge(in input, f report.File) {
	var newer *replay.NewerFormatError
	switch {
	case errors.Is(f.Err, fs.ErrNotExist), errors.As(f.Err, &newer):
		v.complain(exitUsage, f.Err)
	case f.Err != nil:
		v.complain(exitError, f.Err)
	case f.Format == "unknown" && in.named:
		v.complain(exitUsage, fmt.Errorf("%s: not a transcript: %s", in.name, strings.Join(f.Notes, "; ")))
	}
	if v.failOn != "" && verify.Worst(f.Findings).Rank() >= v.failOn.Rank() {
		v.code = max(v.code, exitFound)
	}
}

func (v *verification) complain(code int, err error) {
	v.code = max(v.code, code)
	v.progress.clear()
	complain(v.o.Err, err)
}
