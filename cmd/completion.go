package cmd

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

type completionOptions struct {
	Streams
	Shell string
	Root  *cobra.Command
}

// shells is the table of shells and what writes their script.
func shells() []choice[func(*cobra.Command, io.Writer) error] {
	return []choice[func(*cobra.Command, io.Writer) error]{
		{"bash", func(c *cobra.Command, w io.Writer) error { return c.GenBashCompletionV2(w, true) }},
		{"zsh", (*cobra.Command).GenZshCompletion},
		{"fish", func(c *cobra.Command, w io.Writer) error { return c.GenFishCompletion(w, true) }},
		{"powershell", (*cobra.Command).GenPowerShellCompletionWithDesc},
	}
}

func newCompletion(s Streams, runF func(context.Context, *completionOptions) error) *cobra.Command {
	o := &completionOptions{Streams: s}
	return &cobra.Command{
		Use:         "completion " + join(shells(), "|"),
		Short:       "Print a completion script for a shell",
		Example:     "  source <(turnlog completion bash)\n  turnlog completion zsh > \"${fpath[1]}/_turnlog\"",
		Annotations: map[string]string{"codes": codes()},
		Args:        cobra.ExactArgs(1),
		ValidArgs:   names(shells()),
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
