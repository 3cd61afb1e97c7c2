package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/replay"
	"github.com/turnlog/turnlog/replay/foreign"
	"github.com/turnlog/turnlog/replay/transcript"
	"github.com/turnlog/turnlog/replay/tree"
	"github.com/turnlog/turnlog/replay/view"
)

type replayOptions struct {
	Streams
	File   string
	At     replay.Cut
	Leaf   string // entry id; "" is the last entry
	View   string
	Wire   bool
	Mode   replay.Mode
	Format string
	All    bool
}

func newReplay(s Streams, runF func(context.Context, *replayOptions) error) *cobra.Command {
	o := &replayOptions{Streams: s}
	var at, mode string
	c := &cobra.Command{
		Use:   "replay FILE|-",
		Short: "Show what the model had and saw at any point of a transcript",
		Long: `replay folds a transcript up to a cut and shows what it implies there: the tools
with the line that declared each, the system prompt, the messages, the request.
Nothing is executed and nothing is written.

A cut is line:N, entry:ID, turn:N or end; a bare number is a line. It includes
its line. turn:N is when request N of the path went out. The path is the one
that leads to the cut, or to --leaf; by default to the last entry of the file.`,
		Example: `  turnlog replay session.jsonl
  turnlog replay session.jsonl --at turn:2 --view tools
  turnlog replay session.jsonl --at line:14 --view state --format json
  turnlog replay session.jsonl --view request --wire --tools-mode additions
  turnlog replay session.jsonl --all --format ndjson | jq '.tools[].name'`,
		Annotations: map[string]string{"codes": codes(
			codeText{exitUsage, "usage, no such file or cut, or a file of unknown format"},
		)},
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cut, err := replay.ParseCut(at)
			if err != nil {
				return usagef("--at: %w", err)
			}
			o.File, o.At, o.Mode = args[0], cut, replay.Mode(mode)
			if o.All && !c.Flags().Changed("view") {
				o.View = "state"
			}
			if o.All && (c.Flags().Changed("at") || o.Leaf != "") {
				return usagef("--all shows every entry: --at and --leaf choose one")
			}
			o.Wire = o.Wire || c.Flags().Changed("tools-mode")
			return runF(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&at, "at", "end", "`cut` to stop at: line:N, entry:ID, turn:N or end")
	f.StringVar(&o.Leaf, "leaf", "", "`entry` at the end of the path (default: the last of the file)")
	enumFlag(c, &o.View, "view", "summary", "what to show", view.Names())
	f.BoolVar(&o.Wire, "wire", false, "show a request as it is sent: declarations folded, failed turns left out, open calls answered")
	enumFlag(c, &mode, "tools-mode", string(replay.ModeNone), "how a transport carries changes of tools (implies --wire)", texts(replay.Modes()))
	enumFlag(c, &o.Format, "format", "text", "how to show it", []string{"text", "json", "ndjson"})
	f.BoolVar(&o.All, "all", false, "show the state at every entry, in file order")
	return c
}

func replayRun(ctx context.Context, o *replayOptions) error {
	session, err := readSession(ctx, o)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(o.Out, 64<<10)
	how := view.Options{View: o.View, Format: o.Format, Wire: o.Wire, Mode: o.Mode}
	if o.All {
		err = view.All(ctx, out, session, how)
	} else {
		err = view.At(out, session, o.At, o.Leaf, how)
	}
	var cut *replay.CutError
	if errors.As(err, &cut) {
		return usagef("%s: %w", o.File, err)
	} else if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// readSession reads a file or standard input. What is no session is a usage
// error: nothing could be said about it.
func readSession(ctx context.Context, o *replayOptions) (*view.Session, error) {
	r, err := o.open(ctx, o.File)
	if err != nil {
		return nil, err
	}
	defer r.Close() // read only
	f, err := foreign.Open(r, o.File, "", transcript.Options{})
	if err != nil {
		return nil, asUnknown(err, "replayed")
	}
	parts := f.Parts()
	if o.Leaf == "" && o.At.Line > 0 {
		parts = tree.Until(parts, o.At.Line) // what came later does not count
	}
	t, err := replay.ReadParts(parts)
	var newer *replay.NewerFormatError
	if errors.As(err, &newer) {
		return nil, usagef("%s: %w", o.File, err)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	return &view.Session{Name: o.File, Format: f.Format.Name, Knowledge: f.Knowledge(t.Knowledge() != replay.Unknown), Tree: t}, nil
}
