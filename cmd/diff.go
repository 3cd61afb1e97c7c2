package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/diff"
	"github.com/turnlog/turnlog/replay/diff/calls"
	"github.com/turnlog/turnlog/replay/text"
)

type diffOptions struct {
	Streams
	Files  [2]string
	Sides  [2]diff.Options // they differ in the cut and the leaf only
	Format string
	Text   diff.TextOptions

	AppendOnly bool
	Quiet      bool
}

func newDiff(s Streams, runF func(context.Context, *diffOptions) error) *cobra.Command {
	o := &diffOptions{Streams: s}
	f := diffFlags{}
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "Say where two transcripts part, and how",
		Long: `diff compares two histories by what they say: it aligns messages by role, calls
and content, says how much is the same, where the two part and which of tools,
prompt and model differed there already, then what differs, by category.

Members that differ in any two runs are left out: ` + strings.Join(diff.Volatile(), ", ") + `.
--include compares some of them, --ignore gives another list ("" leaves out
nothing). Call ids are compared by position, not by text.

Damaged lines are passed over and named on standard error; two transcripts are
equal only if their damaged lines are the same. - is standard input.`,
		Example: `  turnlog diff baseline.jsonl run.jsonl
  turnlog diff --mode tools a.jsonl b.jsonl
  turnlog diff --mode calls --calls superset --args ignore baseline.jsonl run.jsonl
  turnlog diff --at turn:2 a.jsonl b.jsonl
  turnlog diff --leaf m7,m9 session.jsonl session.jsonl     # two branches of one file
  turnlog diff --append-only yesterday.jsonl today.jsonl
  turnlog diff --include usage --format json a.jsonl b.jsonl | jq .stat`,
		Annotations: map[string]string{"codes": codes(
			codeText{exitOK, "equal; with --append-only: B begins with A"},
			codeText{exitFound, "different"},
			codeText{exitUsage, "usage, no such file, cut or entry, or a file of unknown format"},
			codeText{exitError, "the comparison could not be finished: I/O, internal error"},
		)},
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := configure(c, s); err != nil {
				return err
			}
			o.Files = [2]string(args)
			if err := f.options(c, o); err != nil {
				return err
			}
			return runF(c.Context(), o)
		},
	}
	f.add(c, o)
	return c
}

// diffFlags are flags that say something about the two sides.
type diffFlags struct {
	mode, calls, args string
	ignore, include   []string
	at, leaf          string
}

func (f *diffFlags) add(c *cobra.Command, o *diffOptions) {
	flags := c.Flags()
	enumFlag(c, &o.Format, "format", "text", "how to show it", []string{"text", "json"})
	enumFlag(c, &f.mode, "mode", string(diff.Full), "how much is compared", texts(diff.Modes()))
	enumFlag(c, &f.calls, "calls", string(calls.Exact), "how the calls of B relate to those of A (implies --mode calls)", texts(calls.Sequences()))
	enumFlag(c, &f.args, "args", string(calls.MatchExact), "how arguments of calls compare (implies --mode calls)", texts(calls.ArgumentMatches()))
	flags.StringSliceVar(&f.ignore, "ignore", diff.Volatile(), "members that are not compared")
	flags.StringSliceVar(&f.include, "include", nil, "members that are compared although --ignore names them")
	flags.StringVar(&f.at, "at", "end", "compare what was in effect at a cut: line:N, entry:ID, turn:N; or A,B")
	flags.StringVar(&f.leaf, "leaf", "", "entry at the end of the path (default: the last of the file); or A,B")
	flags.BoolVar(&o.Text.Stat, "stat", false, "show one line for each category")
	flags.BoolVar(&o.AppendOnly, "append-only", false, "check only that B begins with A, byte for byte")
	flags.BoolVarP(&o.Quiet, "quiet", "q", false, "show nothing; the exit code tells")
	flags.IntVar(&o.Text.Width, "width", 0, "columns of text output (default: $COLUMNS, or 100)")
	flags.IntVar(&o.Text.Limit, "limit", 10, "changes shown of each category in text output; 0 shows all")
}

func texts[S ~string](list []S) []string {
	var out []string
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// options checks the flags and makes options of them.
func (f *diffFlags) options(c *cobra.Command, o *diffOptions) error {
	side := diff.Options{Mode: diff.Mode(f.mode), Sequence: calls.Sequence(f.calls), Arguments: calls.ArgumentMatch(f.args)}
	if c.Flags().Changed("calls") || c.Flags().Changed("args") {
		if side.Mode != diff.OnlyCalls && c.Flags().Changed("mode") {
			return usagef("--calls and --args compare calls, --mode is %s", f.mode)
		}
		side.Mode = diff.OnlyCalls
	}
	for _, name := range f.include {
		if !slices.Contains(f.ignore, name) {
			return usagef("--include %s: it is compared anyway", name).hint("left out: %s", strings.Join(f.ignore, ", "))
		}
	}
	side.Ignore = slices.DeleteFunc(slices.Clone(f.ignore), func(name string) bool { return slices.Contains(f.include, name) })
	if err := diff.CheckIgnored(side.Ignore); err != nil {
		return usagef("--ignore: %w", err)
	}
	o.Sides = [2]diff.Options{side, side}
	cuts, leaves := forBoth(f.at), forBoth(f.leaf)
	for i := range o.Sides {
		cut, err := replay.ParseCut(cuts[i])
		if err != nil {
			return usagef("--at: %w", err)
		}
		o.Sides[i].At, o.Sides[i].Leaf = cut, leaves[i]
	}
	if o.Sides[0].At != o.Sides[1].At { // a path would differ from what was in effect at its own end
		o.Sides[0].AtEnd, o.Sides[1].AtEnd = true, true
	}
	if o.Files[0] == "-" && o.Files[1] == "-" {
		return usagef("standard input cannot be both sides")
	}
	if o.Format == "text" {
		o.Sides[0].Values = o.Text.Limit
	}
	if o.Text.Width == 0 {
		o.Text.Width, _ = strconv.Atoi(o.Env("COLUMNS")) // what is no number is as good as unset
	}
	o.Text.Color = o.Color()
	return nil
}

// forBoth splits the value of a flag that is for both sides, or A,B.
func forBoth(value string) [2]string {
	a, b, two := strings.Cut(value, ",")
	if !two {
		b = a
	}
	return [2]string{a, b}
}

func diffRun(ctx context.Context, o *diffOptions) error {
	if o.AppendOnly {
		return diffAppended(ctx, o)
	}
	var sides [2]side
	defer sides[0].close()
	defer sides[1].close()
	if err := readSides(ctx, &sides, o); err != nil {
		return err
	}
	a, b := sides[0].history, sides[1].history
	for _, h := range []*diff.History{a, b} {
		for _, d := range h.Damage {
			fmt.Fprintf(o.Err, "turnlog: warning: %s:%d: %s [%s]\n", text.Printable(h.Name), d.Line, text.Printable(d.Message), d.Kind)
		}
	}
	result, err := diff.Compare(ctx, a, b, o.Sides[0])
	if err != nil {
		return err
	}
	if err := showDifference(o, result); err != nil {
		return err
	}
	if !result.Equal() {
		return outcome(exitFound)
	}
	return nil
}

func showDifference(o *diffOptions, r *diff.Result) error {
	switch {
	case o.Quiet:
		return nil
	case o.Format == "json":
		return r.WriteJSON(o.Out)
	}
	if err := r.WriteText(o.Out, o.Text); err != nil {
		return fmt.Errorf("write difference: %w", err)
	}
	return nil
}

// readSides reads both files at once.
func readSides(ctx context.Context, sides *[2]side, o *diffOptions) error {
	var errs [2]error
	var reading sync.WaitGroup
	for i := range sides {
		reading.Go(func() { errs[i] = sides[i].read(ctx, o.Streams, o.Files[i], o.Sides[i]) })
	}
	reading.Wait()
	return asUsageErrors(errors.Join(errs[:]...))
}

// asUsageErrors makes a usage error of what the caller asked for and the file
// does not have.
func asUsageErrors(err error) error {
	var cut *replay.CutError
	var newer *replay.NewerFormatError
	if errors.As(err, &cut) || errors.As(err, &newer) {
		return usagef("%w", err)
	}
	return err
}
