package cmd

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnlog/turnlog/replay/choice"
)

type completionOptions struct {
	Streams
	Shell string
	Root  *cobra.Command
}

// shells is the table of shells and what writes their script.
func shells() choice.Table[func(*cobra.Command, io.Writer) error] {
	return choice.Table[func(*cobra.Command, io.Writer) error]{
		{Name: "bash", Value: func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) }},
		{Name: "zsh", Value: (*cobra.Command).GenZshCompletion},
		{Name: "fish", Value: func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) }},
		{Name: "powershell", Value: (*cobra.Command).GenPowerShellCompletionWithDesc},
	}
}

func newCompletion(s Streams, runF func(context.Context, *completionOptions) error) *cobra.Command {
	o := &completionOptions{Streams: s}
	return &cobra.Command{
		Use:         "completion " + strings.Join(shells().Names(), "|"),
		Short:       "Print a completion script for a shell",
		Example:     "  source <(turnlog completion bash)\n  turnlog completion zsh > \"${fpath[1]}/_turnlog\"",
		Annotations: map[string]string{"codes": codes()},
		Args:        cobra.ExactArgs(1),
		ValidArgs:   shells().Names(),
		RunE: func(c *cobra.Command, args []string) error {
			o.Shell, o.Root = args[0], c.Root()
			return runF(c.Context(), o)
		},
	}
}

func completionRun(_ context.Context, o *completionOptions) error {
	write, err := pick("shell", shells(), o.Shell)
	if err != nil {
		return err
	}
	return write(o.Root, o.Out)
}
